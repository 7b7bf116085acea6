import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.InputStream;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/** One published schema of Kafka and the class that Kafka generated from it. */
final class Schema {
    private static final ObjectMapper COMMENTED =
        JsonMapper.builder().enable(JsonParser.Feature.ALLOW_COMMENTS).build();
    private static final String[] PACKAGES = {
        "org.apache.kafka.common.message.",
        "org.apache.kafka.common.metadata.",
        "org.apache.kafka.coordinator.group.generated.",
        "org.apache.kafka.coordinator.transaction.generated.",
        "org.apache.kafka.coordinator.share.generated.",
        "org.apache.kafka.server.log.remote.metadata.storage.generated.",
        "org.apache.kafka.raft.generated.",
    };

    final JsonNode json;
    final String name;
    final Class<?> type;
    final Versions versions;
    private final Versions flexible;
    /** The fields of each struct that is named: those declared in common and those declared inline. */
    private final Map<String, JsonNode> structs = new HashMap<>();

    private Schema(JsonNode json, Class<?> type) {
        this.json = json;
        this.type = type;
        name = json.path("name").asText();
        versions = Versions.parse(json.path("validVersions").asText("none"));
        flexible = Versions.parse(json.path("flexibleVersions").asText("none"));
        for (JsonNode struct : json.path("commonStructs")) {
            structs.put(struct.path("name").asText(), struct.path("fields"));
            gather(struct.path("fields"));
        }
        gather(json.path("fields"));
    }

    private void gather(JsonNode fields) {
        for (JsonNode field : fields) {
            if (field.has("fields")) {
                String struct = field.path("type").asText().replace("[]", "");
                structs.put(struct, field.path("fields"));
                gather(field.path("fields"));
            }
        }
    }

    boolean isFlexible(int version) {
        return flexible.has(version);
    }

    /** The fields of a struct, or null if the name is that of a primitive type. */
    JsonNode struct(String struct) {
        return structs.get(struct);
    }

    String javaPackage() {
        return type == null ? "" : type.getPackageName();
    }

    /** All schemas in the jars of the class path, by name. */
    static Map<String, Schema> all() throws IOException {
        Map<String, Schema> found = new TreeMap<>();
        String separator = System.getProperty("path.separator");
        for (String path : System.getProperty("java.class.path").split(separator)) {
            String file = path.substring(path.lastIndexOf('/') + 1);
            if (file.startsWith("kafka") && file.endsWith(".jar")) {
                gatherJar(path, found);
            }
        }
        return found;
    }

    private static void gatherJar(String path, Map<String, Schema> found) throws IOException {
        try (ZipFile jar = new ZipFile(path)) {
            for (ZipEntry entry : Collections.list(jar.entries())) {
                if (entry.getName().matches("(common/)?(message|metadata)/\\w+\\.json")) {
                    try (InputStream input = jar.getInputStream(entry)) {
                        JsonNode json = COMMENTED.readTree(input);
                        String name = json.path("name").asText();
                        found.put(name, new Schema(json, generated(name)));
                    }
                }
            }
        }
    }

    private static Class<?> generated(String name) {
        for (String candidate : new String[] {name + "Data", name}) {
            for (String prefix : PACKAGES) {
                try {
                    return Class.forName(prefix + candidate);
                } catch (ClassNotFoundException next) {
                    continue;
                }
            }
        }
        return null;
    }

    /** A range of versions as a schema writes it: 0+, 3-11, 4, none. */
    record Versions(int lowest, int highest) {
        static Versions parse(String text) {
            if (text.isBlank() || text.equals("none")) {
                return new Versions(0, -1);
            }
            if (text.endsWith("+")) {
                return new Versions(
                    Integer.parseInt(text.substring(0, text.length() - 1)), Short.MAX_VALUE);
            }
            String[] ends = text.split("-");
            return new Versions(
                Integer.parseInt(ends[0].trim()), Integer.parseInt(ends[ends.length - 1].trim()));
        }

        boolean has(int version) {
            return version >= lowest && version <= highest;
        }
    }
}
