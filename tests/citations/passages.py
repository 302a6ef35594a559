"""Short passages about many things, for tests of checked answers."""

LIGHTHOUSE = """The Harrow Point lighthouse stands 41 metres above the sea and was lit for the first time in
1874. Its lamp burned whale oil until 1902, when Edwin Marsh replaced it with a gas burner. The keeper
climbed 197 steps every evening. In 1931 the tower was struck by lightning, and the lens had to be brought
from Antwerp. The light can be seen from a distance of 27 km."""
SOUTH_TOWER = """The south tower of Harrow Point is smaller: it has 88 steps and was finished in 1881. Its
lamp burns gas and was never converted. Mr. Oliver Penrose kept the tower for 19 years before he moved to
Lisbon. Visitors may enter between April and October, and the entrance fee is 4.50 euros."""
BRIDGE = """The Alder Bridge crosses the Wenn at its narrowest place. It is made of oak, is 63 metres long
and carries 12 tonnes at most. Ingrid Solberg designed it in 1909 for the Nordal Timber Company. Before the
bridge was built, a ferry took 35 minutes to cross the river. The bridge was closed for repairs from 1954 to
1957."""
COMPANY = """Nordal Timber Company reported revenue of 18.4 million euros in 2021, an increase of 7 percent
over the year before. Operating costs rose to 11.2 million euros. The company has 342 employees in Skien and
58 in Tromsø. Karin Dahl became chief executive in March 2019 after Lars Moen retired. No dividend was paid
in 2020."""
MEDICINE = """In the trial, 214 patients received 20 mg of velaprine daily for 12 weeks, while 209 patients
received a placebo. Blood pressure fell by 9.3 mmHg in the treated group and by 2.1 mmHg in the placebo
group. Headache was reported by 14 percent of the treated patients. Dr. Amara Okafor led the study at the
University of Ghent. Patients with kidney disease were not included."""
BIRDS = """The grey plover breeds in the Arctic and winters on coasts as far south as Chile. An adult weighs
about 240 grams and lays four eggs in June. Both parents guard the nest, but the female leaves after twelve
days. In the Wadden Sea, 68,000 birds were counted in 2015. The population has not declined since 1990."""
PARLIAMENT = """The Assembly has 120 members, who are elected for five years. The President of the Assembly
is Helena Varga, elected on 14 May 2020 with 73 votes. A bill must be read three times before it can become
law. The Constitutional Court may annul a law within 90 days. Under Article 12, the Assembly cannot be
dissolved during a state of emergency."""
COOKING = """The dough rests for 45 minutes at 24 degrees before it is divided into 8 pieces. Each loaf
weighs 650 grams and is baked for 32 minutes. Salt is added last, because it slows the yeast. The recipe
comes from Marta Iglesias, who opened her bakery in Girona in 1998."""
SPACE = """The probe Calypso was launched on 3 September 2011 from Kourou and reached Saturn after 6.7
years. It carries five instruments and weighs 2,150 kg. On 22 January 2019 it discovered a small moon, which
was named Thessaly. The probe will not return to Earth. Its last signal was received in Canberra on 9
February 2023."""
SCHOOL = """The village school of Elmsford was founded in 1856 by Reverend Thomas Ashby. It taught 64 pupils
in two rooms until 1923. The new building, which cost 2.3 million dollars, has 14 classrooms and a library
of 9,000 books. The first headmistress was Clara Whitcombe. Lessons begin at 8:15 and end at 14:30."""

CONTEXTS = (
    (LIGHTHOUSE, SOUTH_TOWER, BRIDGE, COMPANY),
    (MEDICINE, BIRDS, SPACE, SCHOOL, COOKING),
    (PARLIAMENT, COMPANY, SCHOOL, LIGHTHOUSE),
    (BRIDGE, SPACE, BIRDS, MEDICINE, PARLIAMENT),
    (COOKING, SOUTH_TOWER, LIGHTHOUSE, SCHOOL),
)
