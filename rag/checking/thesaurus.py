"""Words that stand for one another when an answer says in its own words what a text says. Plain Python.

A line is a group: any two of its words may, words of different groups may not. So a word of two meanings
stands in two lines, and nothing is lent from one to the other. Only words that say the same where they are
exchanged: no opposites, no kinds of one thing, nothing that is surer, larger or more than the other.
"""

from collections.abc import Iterable, Mapping

ENGLISH = """
begin start commence initiate
begin start launch open
end finish conclude complete terminate
end terminate cancel
end cease stop discontinue halt
stop discontinue shut
emerge arise originate develop
grow develop evolve emerge
cause trigger produce provoke induce
cause drive due lead result owing
drive spur fuel prompt boost
lead result
increase raise boost rise grow
increase enhance raise elevate heighten
increase expand extend enlarge
improve enhance increase better
reduce lower decrease cut lessen diminish
decline drop fall decrease decreased reduction dip
decline fall shrink
shorten reduce cut
restrict limit cap confine constrain restriction limitation
limit maximum ceiling cap
prevent avoid avert
prevent stop block hinder
block obstruct
forbid prohibit ban disallow
reject refuse decline deny
allow permit let enable authorise authorize
approve authorise authorize
accept approve
require need demand necessitate
require oblige compel
mandatory compulsory obligatory required
must obliged required
necessary required needed essential
use utilise utilize employ
use apply
apply cover
cover include comprise encompass span
include contain comprise
include involve
consist comprise compose
consist contain include have
have possess own hold
own possess belong
have carry feature
hold keep retain maintain
keep retain preserve store
keep stay remain continue
remain stay continue
store keep save
last take continue run
last final
last previous past
final ultimate last concluding
latest newest recent
initial original first
initially originally first
original initial
early initial
former previous earlier prior
previously formerly earlier
before prior preceding ahead
precede before predate
after following upon once
follow succeed
succeed replace follow
later subsequently afterwards thereafter after
then afterwards subsequently
thereafter after afterwards subsequent
when once whenever upon if
during throughout within
until till
currently now presently today
immediate immediately instantly promptly once
quick fast rapid swift
quickly fast rapidly swiftly
gradually slowly
often frequently commonly
frequent common
common usual typical
usually typically normally generally commonly
usual typical normal standard customary
mainly mostly primarily chiefly largely predominantly principally
main chief primary principal major
nearly almost close virtually
only solely exclusively just
only just merely
sometimes occasionally
rarely seldom
annually yearly year annual
monthly month
weekly week
daily day everyday
hourly hour
quarterly quarter
several various multiple
many numerous
handful few
various different diverse
different distinct
same identical
similar alike comparable
big large
huge enormous massive vast
small little
tiny minute
great large
significant considerable substantial major
significant important
important crucial vital essential key
serious severe grave
tough hard difficult
easy simple straightforward
simple plain basic
new recent novel
old former
old ancient
young juvenile
quiet silent
strong powerful
weak feeble
rich wealthy
cheap inexpensive
expensive costly
free gratis
free complimentary
cost price fee
cost expense expenditure
fee charge payment
pay settle
payable paid due
owe due
bill invoice
buy purchase acquire
acquire obtain gain
obtain get receive gain acquire
receive get obtain
give provide grant
give offer provide supply
provide offer supply deliver
provide supply furnish
offer available provide
available accessible
available obtainable
access enter
grant award
donate give
send dispatch ship transmit
ship transport carry convey
transport carry haul move
move transfer shift relocate
migrate move relocate
transfer pass convey
bring carry
deliver send
make create produce
make manufacture produce
produce generate yield
generate create produce
create establish form
create develop design
build construct erect
dig excavate build
found establish create institute set
establish set introduce
introduce launch bring
introduce adopt implement
implement apply execute
execute run perform carry
perform carry conduct do
conduct carry run perform
conduct direct lead
direct lead manage head supervise
manage run operate administer
run operate
operate function work
work function
work labour labor job
serve act function work
serve use
design plan devise
plan intend
plan schedule
scheduled planned due
invent devise create
discover find detect identify
detect find notice
find locate
find learn discover
locate situate
place put position set
put place insert
place location site spot
position location place
location site place
area region zone
region area territory
town city
village settlement
country nation state
land country
home house
dwelling house home residence
live reside dwell
live inhabit
inhabit live populate
inhabitant resident
resident neighbour
people individuals persons
person individual
people humans
population inhabitants people
employee staff worker personnel
employ hire engage
hire engage recruit
appoint name
appoint become
elect choose vote
choose select pick
select choose
job post position role
post position office
task duty job
boss superior manager supervisor
chief head leader
head lead chair
chair preside head
chairman chair chairperson chairwoman
director head
doctor physician
patient sufferer
sick ill unwell
illness disease sickness ailment
disease disorder condition
symptom sign
therapy treatment
medicine drug medication
drug medication
medical clinical
injection shot jab
vaccinate immunise immunize inoculate
infect contaminate
contagious infectious
spread transmit disseminate
spread distribute scatter
dose dosage
affect influence impact
effect impact influence
adverse negative harmful
side adverse
harm damage hurt injure
damage harm
destroy demolish
destroy devastate
break crack fracture
break shatter
broken defective faulty
crack split
fault defect flaw
fault failure malfunction
error mistake fault
mistaken wrong incorrect
correct right accurate
fix repair mend
repair mend restore
restore recover
renew extend prolong
extend prolong lengthen
recover heal
recover regain
die perish
dead deceased
death fatality
fatal lethal deadly
kill slay
born birth
baby infant newborn
child kid youngster
children kids youngsters
mother mum
spouse partner
marry wed
wife spouse
husband spouse
cub young
female woman
male man
women female
men male
teenager adolescent
adult grown
elderly old aged
student pupil
teacher instructor
teach instruct
study learn
study investigation trial research
study examine investigate
research study
examine inspect check
check inspect verify
check monitor
check examine review
verify confirm check
confirm validate verify
confirm reaffirm affirm
review examine assess
assess evaluate
assess judge estimate
estimate assess
estimate believe
measure gauge
test try trial
test trial experiment
show demonstrate reveal indicate
show display
display exhibit show present
present show
reveal disclose show
suggest propose
propose recommend suggest
recommend advise suggest
advise counsel
warn caution alert
notify inform tell
announce declare
announce reveal
say state declare
state specify
specify state define
define describe
describe depict
explain clarify
mention note cite
report state
report tell
claim assert
argue claim contend
believe think consider
think believe reckon
consider regard view
assume suppose presume
expect anticipate
forecast prediction projection outlook
predict forecast
guess estimate
know recognise recognize
understand comprehend
remember recall
forget overlook
question query ask
ask request
request ask demand
reply answer respond
respond react
agree consent
consent permission approval agreement
permission authorisation authorization consent
permit licence license
agreement contract
contract agreement deal
disagree differ
dispute disagreement conflict
conflict clash
oppose resist
oppose object
support back
support help assist
help assist aid
aid help assistance
guide lead
protect safeguard shield guard
protect defend
secure safe protect
safe secure
danger risk hazard
dangerous hazardous risky
risk chance likelihood
chance probability likelihood
likely probable
probably likely
attack assault
war warfare conflict
war wartime
army military
soldier troop
battle fight
fight battle combat
win triumph
win victory
defeat beat
conquer capture seize
capture seize take
rule govern
rule regulation
law legislation act statute
law rule
legal lawful
court tribunal
judge rule
crime offence offense
offence offense violation breach
breach violation infringement violate
fine penalty
penalty punishment
jail prison imprisonment
convict condemn
accuse charge
revoke withdraw rescind cancel
withdraw remove
cancel revoke void
void invalidate cancel
invalid void
valid effective
valid applicable
expire lapse end
expire run end
revocation withdrawal cancellation
appeal challenge
submit file lodge
file submit
suspend pause
postpone delay defer
delay postpone
delay lag
wait await
notice notification
notice warning
tenant lessee renter
landlord lessor owner
lease rent let
rent lease hire
owner holder proprietor
holder owner
holder bearer
customer client
supplier vendor provider
seller vendor
company firm business corporation enterprise
business company trade
trade commerce
trade business
revenue sales turnover
sales revenue
profit earnings
income earnings
loss deficit
debt liability
liability responsibility
responsible liable
responsible accountable
accountable liable
salary wage pay
bonus premium
money funds
funds money capital
fund finance
investor shareholder
share stock
stock inventory
inventories stocks
stockholder shareholder
market sell
demand request
deal transaction
acquisition purchase takeover
takeover acquisition
merge combine join fuse
combine join unite
join unite link connect
join enter
connect link
connect join attach
link join tie
attach fasten fix
separate divide split
divide split
part portion section
part piece
piece part bit
share portion
component part element
element component
group team
team group crew
organisation organization body
organization organisation
association organisation union
union association
alliance confederation union league coalition
league alliance
meeting assembly gathering
meet gather assemble
gather collect
collect gather accumulate
collection gathering
collection set
amount total
total sum
add contribute
add include
add append
remove delete erase
remove eliminate
discard throw dispose
take remove
take get
carry bear
change alter modify
change switch
alter modify
modify alter edit
adapt adjust
adaptation adjustment
adjust adapt change
replace substitute
replacement substitute
exchange swap
switch turn
turn become
become get
transform convert
convert transform change
repeat redo
repeated repeat
return restore
return come
come arrive
arrive reach
reach attain achieve
achieve attain accomplish
succeed accomplish
leave depart
leave quit
go travel
travel journey
journey trip voyage
trip journey
visit tour
visitor guest
tourist visitor
road street
path trail
ship vessel boat
boat vessel
car automobile vehicle
plane aircraft airplane
rail train railway railroad
railway railroad
bicycle bike
cyclist biker
shop store
pub bar
hospital clinic
school academy
church chapel
building structure edifice
structure building
house building
flat apartment
lift elevator
cellar basement
wall partition
roof top
floor storey story
garden yard
river stream
sea ocean
coast shore
mountain hill
forest wood woodland
rain rainfall
snow snowfall
wind breeze
storm tempest
climate weather
hot warm
cold chilly
chill cool refrigerate
cool chill
fridge refrigerator
freeze frozen
boil cook
cook prepare
prepare make
bake cook
fry cook
whisk beat
stir mix
mix combine blend
mixture blend mix
slice cut
chop cut
grind mill
dough pastry
meal food
food nutrition
eat consume
consume eat use
drink beverage
drink consume
alcohol drinking
wash clean
rinse wash
dry drain
drain empty
empty vacant
fill load
pour add
spoon tablespoon teaspoon
tin pan
pan pot
stove cooker oven
machine device appliance
device appliance gadget
equipment gear
tool instrument
instrument tool device
button key
press push hold
push press
blink flash
light lamp
screen display
charge recharge
battery accumulator
power energy
electricity power
fuel petrol gas
petrol gasoline
engine motor
signal sign
speed pace
speed velocity
height elevation altitude
height altitude
altitude elevation
depth deepness
width breadth
weigh weight
weight mass
length duration
period time
period era age
era age epoch
size dimension
size extent
capacity volume
volume amount
hold accommodate
rate pace
level standard
quality standard
quality grade
feature characteristic property trait
characteristic feature
property characteristic
property estate
type kind sort
class category
species kind
animal creature
animal beast
prey quarry
predator hunter
hunt chase pursue
livestock cattle
herder shepherd herdsman
farmer grower
plant grow
plant factory
crop harvest
seed grain
fur coat pelt
skin hide
tail end
collar band
fit equip
wear bear
clothing clothes garments
cloth fabric textile
fabric cloth
wood timber
stone rock
metal metallic
gold golden
glass pane
paper document
book volume
write author
writer author
novel book
picture image
image picture photo
photo photograph picture
photograph photo
painting picture
film movie
video footage
record film
record log
recording record
music song
song tune
sing perform
play perform
game match
player participant
participant member
competition contest
champion winner
prize award
famous renowned known
known famous
popular favourite
favorite favourite
idea concept
concept idea notion
opinion view
view see
look see
watch observe
observe watch notice
notice see observe
listen hear
speak talk
language tongue
word term
term condition
condition requirement
name title
name call
call name term
title heading
letter message
message notification
mail email
computer machine
software program application
program application
application app
code program
file document
folder directory
command instruction
instruction direction
option setting
parameter option
default standard
default preset
configure set
install set
set adjust
setup configuration
update upgrade
download fetch
fetch get retrieve
retrieve get fetch recover
upload send
copy duplicate
delete trash
save store
backup copy
encrypt encode
password passphrase
user person
account profile
login signin
server host
network net
website site
page webpage
link connection
error failure
bug error
crash fail
retry repeat
timeout expiry
version release
release publish
release launch
publish issue release
issue release
issue problem
problem issue difficulty
difficulty problem
deprecated obsolete
obsolete outdated
sort order
order sort arrange
arrange organise organize
arrange place
list enumerate
newest latest
oldest earliest
exceed surpass
exceed over above
over above
over more
above over beyond
below under
under beneath
below beneath
within inside
within under
outside beyond
opposite contrary
opposite reverse
reverse back
front forward
near close
close shut
closed shut
far distant
remote distant
distance range
range reach
range vary
vary differ
stretch extend
extend reach
border boundary
edge border
limit boundary
centre center middle
base foundation
base bottom
top peak
peak top summit
origin source
come originate
descend come
result outcome
result consequence
purpose aim goal
goal aim objective
aim goal
objective goal
reason cause
method way
manner way
process procedure
approach method
technique method
step stage
stage phase
degree extent
stated mentioned described
responsible charge
global world worldwide
world global
worldwide global
international global
domestic national
local regional
internal inner
external outer
public open
private personal
secret confidential
hidden concealed
visible seen
clear obvious
unclear uncertain
uncertain unsure
sure certain
true real
real actual
fake false
false untrue
complete full entire
complete whole
entire whole
entire full
full complete
fully completely entirely
partly partially
partial part
half halve
single sole
alone only
alone solely
together jointly
joint common
shared joint common
equal same
equally evenly
fair just
honest truthful
careful cautious
brave courageous
angry furious
happy glad
sad unhappy
afraid scared
beautiful pretty
ugly unattractive
clean pure
dirty soiled
wet moist damp
moist damp
soft tender
thick dense
thin slim
wide broad
narrow slender
long lengthy
short brief
tall high
high elevated
low reduced
deep profound
shallow superficial
sharp keen
sour acid tart
sweet sugary
fresh new
raw uncooked
ready prepared
intact undamaged
soggy mushy
flow stream
flat level
flat unchanged stable
unchanged stable
unchanged same
stable steady
steady constant
constant continuous
permanent lasting
temporary interim
additional extra further
another further additional
further additional more
more additional
extra additional
supplementary additional
besides also
prefer favour
love adore
hate detest
want wish
hope wish
try attempt
dare venture
force compel
obey follow
comply follow
follow observe
ignore disregard
neglect ignore
handle treat
handle manage
deal handle
solve resolve
resolve solve settle
settle resolve
settle colonise colonize
decide determine
determine establish
decision ruling
criticise criticize
blame criticise
praise commend
punish penalise
reward compensate
compensate reimburse
compensate remunerate
reimburse refund
repay refund
return refund
borrow loan
lend loan
loan credit
insure cover
guarantee warranty
guarantee ensure
ensure guarantee secure
sign initial
seal stamp
mark label
label tag
register enrol enroll
join enrol
charged billed
vacation holiday leave
holiday vacation
leave absence
absent away
break pause
rest relax
rest remainder
remaining rest
sleep slumber
wake awake
rise stand
stand amount
stand total
amount come
amount equal
ship cargo
cargo freight
goods merchandise products
product item
item thing
item article
article paper
clause provision
section part
paragraph section
chapter section
misconduct wrongdoing
negligence carelessness
wilful intentional deliberate
deliberate intentional
accidental unintentional
indemnify compensate
exclusive sole
jurisdiction authority
authority power
authority agency
govern subject
subject governed
govern regulate
regulate control
control command
oversee supervise
inspect examine
inspector examiner
document record
display exhibit
represent stand
represent depict
portray depict
resemble look
mixture batter
ingredient component
serve feed
serving portion
leftover remainder
tray dish
jug pitcher
lid cover
dishwasher washer
shop buy
queue line
line row
column field
table chart
chart graph
graph diagram
diagram figure
""".strip()

GERMAN = """
erhalten bekommen
erhalten bewahren
zustehen erhalten
bezahlen zahlen übernehmen
tragen übernehmen
vergüten bezahlen entlohnen
kosten betragen
betragen ausmachen
erlaubt gestattet zulässig
erlauben gestatten genehmigen
verboten untersagt unzulässig
verbieten untersagen
beginnen anfangen starten
enden aufhören
beenden abschließen
vollendet fertiggestellt abgeschlossen
erzeugt produziert
erzeugen produzieren herstellen
herstellen fertigen anfertigen
liefern bereitstellen
versorgen beliefern
gebaut errichtet erbaut entstanden entstand
bauen errichten
gründen stiften
entwerfen planen gestalten
entworfen geplant gestaltet
verwenden benutzen nutzen gebrauchen
genutzt benutzt verwendet
kaufen erwerben
verkaufen veräußern
wählen bestimmen
haben besitzen
besitz eigentum
gehören besitzen
bestehen haben
umfassen enthalten beinhalten
fassen aufnehmen
mitarbeiter angestellte beschäftigte arbeitnehmer
arbeitgeber firma
firma unternehmen betrieb
vorgesetzter chef
mieter pächter
vermieter eigentümer
vertrag vereinbarung
kündigen beenden
frist zeitraum
lohn gehalt vergütung
geld mittel
preis kosten gebühr
gebühr entgelt
kostenlos gratis unentgeltlich
kunde käufer
auto wagen fahrzeug
krank erkrankt
krankheit erkrankung
arzt mediziner
medikament arzneimittel
attest bescheinigung
melden mitteilen
mitteilen informieren benachrichtigen
vorlegen einreichen
sofort unverzüglich umgehend
jährlich jahr
monatlich monat
wöchentlich woche
täglich tag
rund etwa ungefähr circa zirka
höchstens maximal
mindestens minimal
anteilig anteilsmäßig
möglich machbar
wenn sofern falls
danach anschließend später
zuvor vorher früher
vor bevor
weil da
aber jedoch doch
sonst andernfalls ansonsten
verfallen erlöschen
beschädigt zerstört
repariert instandgesetzt
reparieren instandsetzen
gesperrt geschlossen
offen geöffnet
finden stattfinden
führung rundgang tour
gebäude bauwerk
anlage einrichtung
stadt ort
ort stelle platz
gemeinde kommune
mensch person einwohner
bewohner einwohner
kind kinder
frau ehefrau
mann ehemann
gestorben starb verstarb verstorben
geboren
groß riesig
klein gering
schnell rasch zügig
langsam gemächlich
wichtig bedeutend
häufig oft
selten kaum
meist meistens gewöhnlich üblicherweise
steigen zunehmen wachsen erhöhen
sinken abnehmen fallen
verringern reduzieren senken
erhöhen steigern anheben
verhindern vermeiden
schützen bewahren
helfen unterstützen
zeigen beweisen belegen
sagen erklären mitteilen
bestätigen bekräftigen
"""

FRENCH = """
coûte prix tarif coût
coûter prix tarif
ouvert ouvre ouvrir
fermé ferme fermer
gratuit libre
construit bâti édifié
comprend compte comporte contient
comprendre compter comporter contenir
géré dirigé
gérer diriger
autorisé permis
autoriser permettre
interdit défendu
commencer débuter
terminer finir achever
environ approximativement près
employé salarié
entreprise société
bâtiment édifice immeuble
recevoir obtenir
payer régler
utiliser employer
augmenter accroître
diminuer réduire baisser
montrer démontrer
aider assister
obligatoire requis
nécessaire requis
annuel an année
quotidien jour
mensuel mois
heure h
"""

SPANISH = """
gratuito gratis
abrir abierto abierta abre
cerrar cerrado cerrada cierra
cuesta cobran precio coste costo
costar cobrar
llevar prestar prestados tomar
diseñado proyectado
construido edificado levantado
inaugurar abrir
permitido autorizado
prohibido vedado
ampliado extendido
situado ubicado está ocupa
empezar comenzar iniciar
terminar acabar finalizar
empleado trabajador
empresa compañía
recibir obtener
pagar abonar
usar utilizar emplear
aumentar incrementar
disminuir reducir
mostrar demostrar
ayudar asistir
obligatorio requerido
necesario requerido
año anual
mes mensual
día diario
vecino residente
"""

GROUPS: Mapping[str, str] = {"en": ENGLISH, "de": GERMAN, "fr": FRENCH, "es": SPANISH}


def groups(language: str) -> Iterable[list[str]]:
    """Of a language (ISO 639-1); English for one that is not known, none for others."""
    return (line.split() for line in GROUPS.get(language or "en", "").strip().splitlines())
