import java.io.FileInputStream;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Date;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import javax.xml.parsers.DocumentBuilderFactory;
import org.verapdf.gf.foundry.VeraGreenfieldFoundryProvider;
import org.verapdf.pdfa.Foundries;
import org.verapdf.pdfa.PDFAParser;
import org.verapdf.pdfa.PDFAValidator;
import org.verapdf.pdfa.flavours.PDFAFlavour;
import org.verapdf.pdfa.results.TestAssertion;
import org.verapdf.pdfa.validation.profiles.ErrorDetails;
import org.verapdf.pdfa.validation.profiles.Profiles;
import org.verapdf.pdfa.validation.profiles.Rule;
import org.verapdf.pdfa.validation.profiles.RuleId;
import org.verapdf.pdfa.validation.profiles.ValidationProfile;
import org.verapdf.pdfa.validation.profiles.Variable;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/**
 * Holds PDF files against veraPDF's profiles. Arguments are a profile and a file in turn; the output has
 * a line for each pair with its number, and one after it for each broken rule, which begins with a tab.
 */
public class VeraJudge {
  private static final Map<String, ValidationProfile> PROFILES = new HashMap<>();

  public static void main(String[] pairs) throws Exception {
    VeraGreenfieldFoundryProvider.initialise();
    for (int at = 0; at < pairs.length; at += 2) {
      if (!PROFILES.containsKey(pairs[at])) {
        PROFILES.put(pairs[at], read(pairs[at]));
      }
      ValidationProfile profile = PROFILES.get(pairs[at]);
      Set<String> broken = new TreeSet<>();
      try (InputStream file = new FileInputStream(pairs[at + 1]);
          PDFAParser parser =
              Foundries.defaultInstance().createParser(file, profile.getPDFAFlavour())) {
        PDFAValidator validator =
            Foundries.defaultInstance().createValidator(profile, 1, false, false, false);
        for (TestAssertion one : validator.validate(parser).getTestAssertions()) {
          RuleId id = one.getRuleId();
          String place = one.getLocation().getContext();
          broken.add(
              id.getClause() + "-" + id.getTestNumber() + " " + one.getMessage() + " @ " + place);
        }
      }
      System.out.println(at / 2);
      broken.forEach(one -> System.out.println("\t" + one.replaceAll("\\s+", " ")));
    }
  }

  /** Reads a profile of the archive, without JAXB, whose implementation it has not. */
  private static ValidationProfile read(String name) throws Exception {
    String path = "/org/verapdf/pdfa/validation/" + name + ".xml";
    try (InputStream stream = Profiles.class.getResourceAsStream(path)) {
      Element root =
          DocumentBuilderFactory.newInstance()
              .newDocumentBuilder()
              .parse(stream)
              .getDocumentElement();
      Set<Rule> rules = new HashSet<>();
      for (Element rule : find(root, "rule")) {
        rules.add(readRule(rule));
      }
      Set<Variable> variables = new HashSet<>();
      for (Element one : find(root, "variable")) {
        variables.add(
            Profiles.variableFromValues(
                one.getAttribute("name"),
                one.getAttribute("object"),
                text(one, "defaultValue"),
                text(one, "value")));
      }
      return Profiles.profileFromValues(
          PDFAFlavour.valueOf(root.getAttribute("flavour")),
          Profiles.profileDetailsFromValues(name, name, "", new Date(0)),
          "",
          rules,
          variables);
    }
  }

  private static Rule readRule(Element rule) {
    Element id = find(rule, "id").get(0);
    RuleId number =
        Profiles.ruleIdFromValues(
            PDFAFlavour.Specification.valueOf(id.getAttribute("specification")),
            id.getAttribute("clause"),
            Integer.parseInt(id.getAttribute("testNumber")));
    ErrorDetails error = Profiles.errorFromValues(text(rule, "message"), new ArrayList<>());
    return Profiles.ruleFromValues(
        number,
        rule.getAttribute("object"),
        Boolean.valueOf(rule.getAttribute("deferred")),
        rule.getAttribute("tags"),
        text(rule, "description"),
        text(rule, "test"),
        error,
        new ArrayList<>());
  }

  private static List<Element> find(Element inside, String tag) {
    NodeList found = inside.getElementsByTagName(tag);
    List<Element> elements = new ArrayList<>();
    for (int at = 0; at < found.getLength(); at++) {
      elements.add((Element) found.item(at));
    }
    return elements;
  }

  private static String text(Element inside, String tag) {
    return find(inside, tag).get(0).getTextContent();
  }
}
