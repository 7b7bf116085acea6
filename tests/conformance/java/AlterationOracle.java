import java.io.*;
import java.lang.reflect.*;
import java.util.*;
import org.apache.kafka.clients.admin.AlterConfigOp.OpType;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.metadata.ConfigRecord;
import org.apache.kafka.common.requests.ApiError;
import org.apache.kafka.metadata.KafkaConfigSchema;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.config.*;
import org.apache.kafka.storage.internals.log.LogConfig;

/**
 * For each line of standard input (topic option, its value or null, operation, what is given)
 * prints what Kafka's controller would write into the metadata log.
 */
public class AlterationOracle {
    public static void main(String[] arguments) throws Exception {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null; line = input.readLine())
            System.out.println(line + "\t" + altered(line.split("\t", -1)));
    }

    static String altered(String[] parts) throws Exception {
        Object controller = controller();
        ConfigResource topic = new ConfigResource(ConfigResource.Type.TOPIC, "t");
        if (!parts[1].equals("null"))
            call(controller, "replay", new ConfigRecord().setResourceType(topic.type().id())
                .setResourceName("t").setName(parts[0]).setValue(parts[1]));
        String given = parts[3].equals("null") ? null : parts[3];
        var change = Map.of(parts[0], new AbstractMap.SimpleEntry<>(OpType.valueOf(parts[2]), given));
        Object result = call(controller, "incrementalAlterConfig", topic, change, false, false);
        ApiError error = (ApiError) call(result, "response");
        if (error.isFailure()) return error.error().name();
        for (Object record : (List<?>) call(result, "records"))
            return "=" + ((ConfigRecord) ((ApiMessageAndVersion) record).message()).value();
        return "unchanged";
    }

    static Object controller() throws Exception {
        var definitions = Map.of(ConfigResource.Type.BROKER, AbstractKafkaConfig.CONFIG_DEF,
            ConfigResource.Type.TOPIC, LogConfig.configDefCopy());
        Object builder = made("ConfigurationControlManager$Builder");
        call(builder, "setKafkaConfigSchema",
            new KafkaConfigSchema(definitions, ServerTopicConfigSynonyms.ALL_TOPIC_CONFIG_SYNONYMS));
        call(builder, "setFeatureControl", call(made("FeatureControlManager$Builder"), "build"));
        return call(builder, "build");
    }

    static Object made(String name) throws Exception {
        Constructor<?> constructor = Class.forName("org.apache.kafka.controller." + name).getDeclaredConstructor();
        constructor.setAccessible(true);
        return constructor.newInstance();
    }

    /** Kafka keeps these classes to its own package. */
    static Object call(Object target, String name, Object... arguments) throws Exception {
        for (Class<?> at = target.getClass(); at != null; at = at.getSuperclass())
            for (Method method : at.getDeclaredMethods())
                if (method.getName().equals(name) && method.getParameterCount() == arguments.length) {
                    method.setAccessible(true);
                    return method.invoke(target, arguments);
                }
        throw new NoSuchMethodException(name);
    }
}
