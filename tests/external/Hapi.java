import ca.uhn.fhir.context.FhirContext;
import ca.uhn.fhir.rest.api.MethodOutcome;
import ca.uhn.fhir.rest.client.api.IGenericClient;
import ca.uhn.fhir.rest.client.interceptor.BearerTokenAuthInterceptor;
import ca.uhn.fhir.rest.server.exceptions.ResourceNotFoundException;
import ca.uhn.fhir.rest.server.exceptions.UnprocessableEntityException;
import org.hl7.fhir.r4.model.*;

public class Hapi {
  static void check(boolean held, String what) { if (!held) throw new IllegalStateException(what); }

  public static void main(String[] args) {
    FhirContext context = FhirContext.forR4();
    IGenericClient client = context.newRestfulGenericClient(args[0]);
    client.registerInterceptor(new BearerTokenAuthInterceptor(args[1]));
    CapabilityStatement told = client.capabilities().ofType(CapabilityStatement.class).execute();
    check(told.getFhirVersion().toCode().equals("4.0.1"), "version");
    Patient patient = client.read().resource(Patient.class).withId("ward-01").execute();
    check(patient.getIdElement().getIdPart().equals("ward-01"), "read");
    Bundle page = client.search().forResource(Observation.class).where(Observation.PATIENT.hasId("ward-01"))
        .count(40).returnBundle(Bundle.class).execute();
    int total = page.getTotal(), found = page.getEntry().size();
    while (page.getLink(Bundle.LINK_NEXT) != null) {
      page = client.loadPage().next(page).execute();
      found += page.getEntry().size();
    }
    check(found == total && total > 40, "paging " + found + " of " + total);
    Bundle posted = client.search().forResource(Observation.class).where(Observation.PATIENT.hasId("ward-01"))
        .usingStyle(ca.uhn.fhir.rest.api.SearchStyleEnum.POST).returnBundle(Bundle.class).execute();
    check(posted.getTotal() == total, "search by post");
    MedicationRequest order = new MedicationRequest();
    order.setStatus(MedicationRequest.MedicationRequestStatus.ACTIVE);
    order.setIntent(MedicationRequest.MedicationRequestIntent.ORDER);
    order.setMedication(new CodeableConcept().setText("aspirin"));
    order.setSubject(new Reference("Patient/ward-01"));
    order.addIdentifier().setSystem("urn:hapi").setValue("1");
    MethodOutcome made = client.create().resource(order).conditional()
        .where(MedicationRequest.IDENTIFIER.exactly().systemAndIdentifier("urn:hapi", "1")).execute();
    MethodOutcome again = client.create().resource(order).conditional()
        .where(MedicationRequest.IDENTIFIER.exactly().systemAndIdentifier("urn:hapi", "1")).execute();
    check(made.getCreated() && made.getId().getIdPart().equals(again.getId().getIdPart()), "conditional create");
    MedicationRequest stored = client.read().resource(MedicationRequest.class).withId(made.getId().getIdPart()).execute();
    stored.setStatus(MedicationRequest.MedicationRequestStatus.STOPPED);
    MethodOutcome changed = client.update().resource(stored).execute();
    check(changed.getId().getVersionIdPart().equals("2"), "update " + changed.getId());
    client.patch().withBody("[{\"op\":\"replace\",\"path\":\"/status\",\"value\":\"on-hold\"}]")
        .withId(changed.getId().toUnqualifiedVersionless()).execute();
    Bundle history = client.history().onInstance(changed.getId().toUnqualifiedVersionless()).returnBundle(Bundle.class).execute();
    check(history.getTotal() == 3, "history");
    Parameters asked = client.operation().onInstance(new IdType("Patient", "ward-01")).named("$everything")
        .withNoParameters(Parameters.class).useHttpGet().execute();
    check(((Bundle) asked.getParameterFirstRep().getResource()).getTotal() > total, "everything");
    Bundle bundle = new Bundle();
    bundle.setType(Bundle.BundleType.TRANSACTION);
    order.getIdentifier().clear();
    bundle.addEntry().setResource(order).getRequest().setMethod(Bundle.HTTPVerb.POST).setUrl("MedicationRequest");
    check(client.transaction().withBundle(bundle).execute().getEntry().size() == 1, "transaction");
    boolean refused = false;
    try { client.read().resource(Patient.class).withId("nobody").execute(); } catch (ResourceNotFoundException fault) { refused = true; }
    check(refused, "not found");
    refused = false;
    try { client.create().resource(new MedicationRequest()).execute(); } catch (UnprocessableEntityException fault) { refused = true; }
    check(refused, "invalid");
    System.out.println("hapi done");
  }
}
