"""What names say that a person cannot change, in four languages; and what they do not say."""

import pandas as pd
import pytest

from surefoot import Actions, ConditionalGaussianNetworkClassifier, datasets
from surefoot.explain.constraints.proposals import topic_of

SAID = {
    "age": "age Age AGE age_years agegroup ageband customer_age personAge Alter lebensalter edad Âge",
    "sex": "sex Sex gender Geschlecht sexe sexo genero género SEX_CODE is_female Anrede civilité "
    "genre women applicant_gender isFemale sexeClient",
    "born": "birth_date dateOfBirth DOB birthYear Geburtsdatum geburtsort date_naissance fecha_nacimiento "
    "yearborn birthwt bwght geb GebJahr Geb_Ort geb_dat fec_nac año_nac anio_nac ddn",
    "old": "agemonths ageDays age_yrs agesq jahre_alt edadTitular trancheAge",
    "race": "race ethnicity Ethnie raza etnia skin_color Hautfarbe caste "
    "black White asian is_black nonwhite hispan",
    "citizenship": "nationality country_of_origin citizenship Staatsangehörigkeit herkunft foreign_worker "
    "staatsang nationalité",
    "religion": "religion Konfession relig confession catholic",
    "family": "family_history famhist pedigree pedi mother_education Familienanamnese antecedents_familiaux "
    "motheduc parents_education parental_level_of_education",
    "disability": "disability Behinderung discapacidad handicap GdB",
    "menopause": "menopause menostat Menopausal wechseljahre",
    "children": "children num_children Kinderzahl dependents unterhaltspflichtige enfants personas_a_cargo",
    "pregnanc": "pregnancies preg npreg Schwangerschaften embarazos",
    "happened": "previous_loans credit_history residence_since employed_since prior_arrests tenure hire_date "
    "is_veteran years_at_address",
}
FREE = (
    "income mileage page usage average storage percentage savings debt amount wage garage voltage message "
    "sextant trace grace terrace racecar_speed surface raced loan_amount duration_months installment_rate "
    "housing job weight glucose last_name origin_airport past_due foreign_currency alternative "
    "dosage shortage image race_time tobacco alcohol bmi mass plas insu skin thal ca oldpeak "
    "white_goods black_friday_sales red_white_ratio whitelist blackberry music_genre genre_count girls_club "
    "gender_neutral gender_pay_gap originator_fee origination_fee engagement sextile essex birthmark_count "
    "packageCount manageFee beverage wages leverage mortgage dosageMg Schulden Haushaltsgröße ménage étage "
    "chômage ingresos deuda alquiler edadismo importe generator genesis nationwide_branch handicraft tribune "
    "terrasse Rassel Betrag Gehalt gebuehr Gebühren gebaeude megabytes menu_price parent_company"
)


@pytest.mark.parametrize("what", SAID)
def test_what_names_say(what):
    topics = {name: topic_of(name) for name in SAID[what].split()}
    assert [name for name, topic in topics.items() if topic is None] == []
    if what not in ("citizenship", "age", "sex", "born", "race"):
        assert all(what in topic.said for topic in topics.values())


def test_what_they_do_not_say():
    assert {name: topic_of(name).said for name in FREE.split() if topic_of(name) is not None} == {}


def test_of_every_bundled_table():
    found = {}
    for name in ("german_credit", "pima", "banknote", "ionosphere"):
        data = getattr(datasets, f"load_{name}")()
        clf = ConditionalGaussianNetworkClassifier("naive").fit(data.X, data.y)
        proposed = Actions.proposed(clf)
        found[name] = sorted(map(str, proposed.features))
        assert proposed.reasons.keys() == proposed.features.keys()
        assert all(action.may == "stay" for action in proposed.features.values())
    assert found == {
        "german_credit": [
            "age", "credit_history", "dependents", "employed_since", "foreign_worker", "personal_status",
            "residence_since",
        ],
        "pima": ["age", "pedi", "preg"],
        "banknote": [],
        "ionosphere": [],
    }  # fmt: skip


def test_values_that_say_sex():
    frame = pd.DataFrame({"who": ["man", "woman"] * 6, "fruit": ["apple", "pear", "plum"] * 4})
    clf = ConditionalGaussianNetworkClassifier("naive", categorical="auto").fit(
        frame.assign(x=range(12)), [0, 1, 1] * 4
    )
    assert Actions.proposed(clf).reasons == {"who": "its values say a person's sex or gender"}
