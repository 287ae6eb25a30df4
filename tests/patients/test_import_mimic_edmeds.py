"""What the patient was taking when seen in the emergency department. Invented rows."""

from __future__ import annotations

from typing import Any

HEAD = "subject_id,stay_id,charttime,name,gsn,ndc,etc_rn,etccode,etcdescription\n"


def test_a_drug_of_two_classes_is_one_statement(invented: Any) -> None:
    rows = (
        "1,7,2150-03-01 06:10:00,aspirin ,004380,00093104801,1,577,Salicylates\n"
        "1,7,2150-03-01 06:10:00,aspirin ,004380,00093104801,2,578,Platelet Inhibitors\n"
        "1,7,2150-03-01 06:10:00,*acuvite,0,0,1,,\n"
        "1,7,3/1/2150 6:10,aspirin,004380,0,1,,\n"
        "1,7,2150-03-01 06:10:00,,0,0,1,,\n"
    )
    chart = invented(medrecon=HEAD + rows)
    assert chart.refused("medrecon") == {
        "charttime is not a time": 1,
        "stay_id is not a whole number, or charttime or name is empty": 1,
    }
    assert chart.all("MedicationStatement", "2150-03-01T06:09:59Z") == {}
    found = {one["medicationCodeableConcept"]["text"]: one for one in chart.all("MedicationStatement").values()}
    assert set(found) == {"aspirin", "*acuvite"}
    codes = [one["code"] for one in found["aspirin"]["medicationCodeableConcept"]["coding"]]
    assert codes == ["00093104801", "004380", "577", "578"]
    assert "coding" not in found["*acuvite"]["medicationCodeableConcept"]
    assert found["aspirin"]["status"] == "unknown"
    assert found["aspirin"]["dateAsserted"] == "2150-03-01T06:10:00Z"
