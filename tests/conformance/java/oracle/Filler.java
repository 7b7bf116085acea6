import com.fasterxml.jackson.databind.JsonNode;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.types.RawTaggedField;
import org.apache.kafka.common.record.internal.BaseRecords;
import org.apache.kafka.common.record.internal.MemoryRecords;

/**
 * Draws messages of one schema and version that hold every kind of legal value.
 *
 * A field that the version lacks keeps its default; a tagged field is left out half of the time,
 * and now and then tags come along that the schema does not have.
 */
final class Filler {
    private static final String[] TEXTS = {"", "a", "topic-1", "æøå", "日本語", "\uD834\uDD1E", "\0"};
    private static final long[] CORNERS = {0, 1, -1, 127, 128, Long.MIN_VALUE, Long.MAX_VALUE};
    private static final double[] REALS = {0.0, -0.0, 1.5, -1e300, Double.MIN_VALUE,
        Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, Double.NaN};

    /** Lower ones may be known to another release, or in another version, which Kafka refuses. */
    private static final int TAG_MIN = 100;

    private final Schema schema;
    private final short version;
    private final Random random;
    private final Map<String, Method> setters = new HashMap<>();

    Filler(Schema schema, short version, Random random) {
        this.schema = schema;
        this.version = version;
        this.random = random;
    }

    Object message() throws Exception {
        return struct(schema.type, schema.json.path("fields"), 0);
    }

    private Object struct(Class<?> type, JsonNode fields, int depth) throws Exception {
        Object made = type.getConstructor().newInstance();
        for (JsonNode field : fields) {
            if (!has(field, "versions") || has(field, "taggedVersions") && random.nextBoolean()) {
                continue;
            }
            Method setter = setter(type, field.path("name").asText());
            setter.invoke(made, value(field, setter.getParameterTypes()[0], depth));
        }
        if (schema.isFlexible(version) && random.nextInt(4) == 0) {
            addUnknownTags((Message) made);
        }
        return made;
    }

    private boolean has(JsonNode field, String range) {
        return Schema.Versions.parse(field.path(range).asText("none")).has(version);
    }

    private Method setter(Class<?> type, String field) {
        String name = "set" + Character.toUpperCase(field.charAt(0)) + field.substring(1);
        return setters.computeIfAbsent(type.getName() + name, key -> {
            for (Method method : type.getMethods()) {
                if (method.getName().equals(name) && method.getParameterCount() == 1) {
                    return method;
                }
            }
            throw new IllegalStateException("no " + key);
        });
    }

    private Object value(JsonNode field, Class<?> target, int depth) throws Exception {
        if (has(field, "nullableVersions") && random.nextInt(4) == 0) {
            return null;
        }
        String type = field.path("type").asText();
        if (type.startsWith("[]")) {
            return array(type.substring(2), target, depth);
        }
        return single(type, target, depth);
    }

    private Collection<Object> array(String type, Class<?> target, int depth) throws Exception {
        @SuppressWarnings("unchecked")
        Collection<Object> made = target == List.class
            ? new ArrayList<>()
            : (Collection<Object>) target.getConstructor().newInstance();
        int count = random.nextInt(Math.max(2, 4 - depth));
        // A length of 128 or more takes two bytes in the compact form.
        if (depth == 0 && schema.struct(type) == null && random.nextInt(30) == 0) {
            count = 130;
        }
        for (int i = 0; i < count; i++) {
            made.add(single(type, null, depth + 1));
        }
        return made;
    }

    private Object single(String type, Class<?> target, int depth) throws Exception {
        return switch (type) {
            case "bool" -> random.nextBoolean();
            case "int8" -> (byte) integer();
            case "int16" -> (short) integer();
            case "uint16" -> (int) integer() & 0xffff;
            case "int32" -> (int) integer();
            case "uint32" -> integer() & 0xffffffffL;
            case "int64" -> integer();
            case "float64" -> random.nextBoolean()
                ? REALS[random.nextInt(REALS.length)] : random.nextGaussian();
            case "string" -> text();
            case "uuid" -> random.nextInt(4) == 0
                ? Uuid.ZERO_UUID : new Uuid(random.nextLong(), random.nextLong());
            case "bytes" -> target == ByteBuffer.class ? ByteBuffer.wrap(bytes()) : bytes();
            case "records" -> (BaseRecords) MemoryRecords.readableRecords(ByteBuffer.wrap(bytes()));
            default -> struct(
                Class.forName(schema.type.getName() + "$" + type), schema.struct(type), depth);
        };
    }

    private long integer() {
        if (random.nextInt(3) == 0) {
            return CORNERS[random.nextInt(CORNERS.length)];
        }
        // All sizes are equally likely, where plain numbers would nearly all be huge.
        return random.nextLong() >> random.nextInt(64);
    }

    private String text() {
        return random.nextInt(30) == 0
            ? "x".repeat(120 + random.nextInt(20)) : TEXTS[random.nextInt(TEXTS.length)];
    }

    private byte[] bytes() {
        byte[] drawn = new byte[random.nextInt(30) == 0 ? 300 : random.nextInt(20)];
        random.nextBytes(drawn);
        return drawn;
    }

    private void addUnknownTags(Message made) {
        TreeSet<Integer> tags = new TreeSet<>();
        for (int i = random.nextInt(3); i >= 0; i--) {
            tags.add(TAG_MIN + random.nextInt(random.nextBoolean() ? 16 : 1 << 20));
        }
        for (int tag : tags) {
            made.unknownTaggedFields().add(new RawTaggedField(tag, bytes()));
        }
    }
}
