"""Claims in a passage's own words that say something else, and in other words that say the same."""

import pytest

from rag.citations.judge import judged

TREATY = (
    "The treaty was signed on 3 April 2004 by Ireland and Denmark. If the council agrees, members may "
    "suspend payments. Membership rose by 5 percentage points between 2001 and 2003. Exports went to Sweden."
)
COMPANY = (
    "Revenue increased 8% to $4.2 billion in fiscal 2022 from $3.9 billion in fiscal 2021. The company "
    "expects to open two plants in 2025. The audit was approved by Dr. Helen Marsh and funded by Novartis. "
    "It is unlikely that the merger harms prices. Aspirin may cause bleeding in older patients."
)
TESLA = (
    "Nikola Tesla was born in the village of Smiljan on 10 July 1856. The induction motor was his. He died "
    "in May. It was much used. Tesla emigrated to the United States in 1884."
)
TOWER = (
    "The tower was designed by Ann Lee and completed in 1889. The tower is 330 m tall. The bridge was "
    "finished in 1902."
)
NOTES = "See the statements of income and Note 4. For tax rates, see the tax section and Note 5."
BRIDGES = (
    "The tower is 330 m tall and was the tallest structure until 1930, when the Nordal Bridge was finished. "
    "In 1884 he emigrated to America and worked for Thomas Edison. The margin was between 10% and 12%. The "
    "pre-existing effect was tested in Salmonella cells."
)
MILL = (
    "The mill was the tallest building of the valley until 1890. The upper mill is wider than the lower "
    "mill, but it grinds less grain. The river floods the meadows, which feed the sheep of the village. The "
    "miller sends flour to the baker every week. The wheel is irreparable. Visits are free for children "
    "under 12. Boats may pass if the warden agrees. The village no longer has a school. The dam was planned "
    "by Ann Lee, and Bob Ray built it."
)
DRUG = (
    "The drug is effective against fever but ineffective against cough. The liver breaks the drug down, and "
    "the kidneys excrete it. Patients in the treated group recovered sooner than patients in the untreated "
    "group. Passwords are stored encrypted, while names are stored in plain text. The valve is connected by "
    "the fitter."
)
BROTHERS = "Karl Benz met Anna Benz. In 1903 she left. Benz died on 7 January 1943."


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Revenue was $4.2 billion in fiscal 2021.", COMPANY),
        ("Revenue was $3.9 billion in fiscal 2022.", COMPANY),
        ("The company opened two plants in 2025.", COMPANY),
        ("The audit was funded by Dr. Helen Marsh.", COMPANY),
        ("Novartis approved the audit.", COMPANY),
        ("The merger harms prices.", COMPANY),
        ("Aspirin causes bleeding in older patients.", COMPANY),
        ("The council agreed.", TREATY),
        ("The council agreed to suspend payments.", TREATY),
        ("Members suspended payments.", TREATY),
        ("Membership rose to 5 percentage points in 2001.", TREATY),
        ("Exports came from Sweden.", TREATY),
        ("The treaty was signed on 4 March 2004.", TREATY),
        ("The treaty was signed on April 4, 2003.", TREATY),
        ("Tesla emigrated from the United States in 1884.", TESLA),
        ("The tower, completed in 1902, is 330 metres tall.", TOWER),
        ("The tower, built by Henry Ford, is 330 metres tall.", TOWER),
        ("Le pont a été détruit en 1902.", TOWER),
        ("For tax rates, see the tax section and Note 4.", NOTES),
        ("The Nordal Bridge is 330 metres tall.", BRIDGES),
        ("Thomas Edison emigrated to America in 1884.", BRIDGES),
        ("The margin was 10%.", BRIDGES),
        ("The effect was tested in Pre cells.", BRIDGES),
        ("Anna Benz died on 7 January 1943.", BROTHERS),
        ("The mill is the tallest building of the valley.", MILL),
        ("The lower mill is wider than the upper mill.", MILL),
        ("The lower mill grinds less grain.", MILL),
        ("The river feeds the sheep of the village.", MILL),
        ("The meadows flood the river.", MILL),
        ("The baker sends flour to the miller every week.", MILL),
        ("The wheel is reparable.", MILL),
        ("Visits are free for children.", MILL),
        ("Boats may pass.", MILL),
        ("The village has a school.", MILL),
        ("Bob Ray planned the dam.", MILL),
        ("The drug is ineffective against fever.", DRUG),
        ("The kidneys break the drug down.", DRUG),
        ("Patients in the untreated group recovered sooner than patients in the treated group.", DRUG),
        ("Passwords are stored in plain text.", DRUG),
        ("The fitter is connected.", DRUG),
    ],
)
def test_own_words_that_say_something_else_are_no_support(claim: str, passage: str) -> None:
    assert judged(claim, passage, "en").support is None


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Revenue grew 8% to $4.2 billion in fiscal 2022.", COMPANY),
        ("The company will open two plants in 2025.", COMPANY),
        ("Novartis funded the audit.", COMPANY),
        ("Dr. Helen Marsh approved the audit.", COMPANY),
        ("Aspirin can cause bleeding in older patients.", COMPANY),
        ("The treaty was signed on April 3, 2004 by Ireland and Denmark.", TREATY),
        ("Ireland and Denmark signed the treaty on the 3rd of April 2004.", TREATY),
        ("Members can suspend payments if the council agrees.", TREATY),
        ("Membership increased by 5 percentage points between 2001 and 2003.", TREATY),
        ("Nikola Tesla was born in Smiljan in 1856.", TESLA),
        ("Nikola Tesla was born on July 10, 1856, in the village of Smiljan.", TESLA),
        ("The tower, completed in 1889, is 330 metres tall.", TOWER),
        ("Completed in 1889, the tower is 330 metres tall.", TOWER),
        ("The tower is 330 m tall and was completed in 1889.", TOWER),
        ("The margin ranged from 10% to 12%.", BRIDGES),
        ("The Nordal Bridge was finished in 1930.", BRIDGES),
        ("Nikola Tesla emigrated to the United States in 1884.", TESLA),
        ("The lower mill is narrower than the upper mill.", MILL),
        ("The meadows feed the sheep.", MILL),
        ("The meadows are flooded by the river.", MILL),
        ("The wheel is not reparable.", MILL),
        ("Ann Lee planned the dam.", MILL),
        ("The drug is not effective against cough.", DRUG),
        ("The kidneys excrete the drug.", DRUG),
        ("Patients in the untreated group recovered later than patients in the treated group.", DRUG),
        ("In plain text, names are stored.", DRUG),
    ],
)
def test_other_words_that_say_the_same_are_support(claim: str, passage: str) -> None:
    assert judged(claim, passage, "en").support == "supported"
