import java.io.*;
import java.util.*;
import kafka.server.ConfigHelper;
import kafka.server.KafkaConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.message.DescribeConfigsRequestData.DescribeConfigsResource;
import org.apache.kafka.common.message.DescribeConfigsResponseData.*;
import org.apache.kafka.server.config.*;
import org.apache.kafka.storage.internals.log.LogConfig;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Prints what Kafka's own classes know of options. "rows": every row of the definitions, a
 * tab-separated line each. "values": for each line of standard input, a type or topic option and a
 * text as \\uXXXX escapes after a tab, what they make of the text. "describe": for each line of
 * input, name=value pairs by layer, what DescribeConfigs answers.
 */
public class ConfigOracle {
    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("rows")) {
            print("broker", AbstractKafkaConfig.CONFIG_DEF, DynamicBrokerConfig.dynamicConfigUpdateModes());
            print("topic", LogConfig.configDefCopy(), Map.of());
            return;
        }
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null; line = input.readLine())
            System.out.println(arguments[0].equals("values") ? value(line) : describe(line));
    }

    static void print(String scope, ConfigDef definition, Map<String, String> changes) {
        for (ConfigDef.ConfigKey key : new TreeMap<>(definition.configKeys()).values()) {
            List<String> twins = new ArrayList<>();
            if (scope.equals("topic"))
                for (ConfigSynonym one : ServerTopicConfigSynonyms.ALL_TOPIC_CONFIG_SYNONYMS.getOrDefault(key.name, List.of()))
                    twins.add(one.name() + "*" + one.converter().apply("1"));
            String standard = !key.hasDefault() ? "<required>" : key.defaultValue == null ? "<null>"
                : ConfigDef.convertToString(key.defaultValue, key.type);
            System.out.println(String.join("\t", scope, key.name, key.type.name(), standard,
                key.importance.name(), String.valueOf(key.validator), String.valueOf(key.internalConfig),
                changes.getOrDefault(key.name, "read-only"), String.join(",", twins)));
        }
    }

    static String value(String line) {
        String[] parts = line.split("\t", -1);
        ConfigDef definition = new ConfigDef();
        ConfigDef.ConfigKey key = LogConfig.configDefCopy().configKeys().get(parts[0]);
        try {
            if (key == null)
                definition.define(parts[0], ConfigDef.Type.valueOf(parts[0]), ConfigDef.Importance.LOW, "");
            else
                definition.define(key);
            Object value = definition.parse(Map.of(parts[0], text(parts[1]))).get(parts[0]);
            return line + "\t=" + escaped(ConfigDef.convertToString(value, definition.configKeys().get(parts[0]).type));
        } catch (org.apache.kafka.common.config.ConfigException refused) {
            return line + "\trefused";
        }
    }

    /** Layers by a letter each: s the file, c the whole cluster, b the broker, t the topic. */
    static String describe(String line) throws Exception {
        Map<Character, Properties> layers = new HashMap<>();
        for (char layer : "scbt".toCharArray()) layers.put(layer, new Properties());
        String[] parts = line.split("\t", -1);
        for (String pair : parts[1].isEmpty() ? new String[0] : parts[1].split(" "))
            layers.get(pair.charAt(0)).put(pair.substring(2, pair.indexOf('=')), pair.substring(pair.indexOf('=') + 1));
        Properties file = layers.get('s');
        file.putAll(Map.of("process.roles", "broker", "node.id", "1", "controller.listener.names", "C",
            "controller.quorum.voters", "9@localhost:9093", "listeners", "PLAINTEXT://:9092"));
        KafkaConfig config = new KafkaConfig(file, false);
        config.dynamicConfig().initialize(scala.Option.empty());
        config.dynamicConfig().updateDefaultConfig(layers.get('c'), true);
        config.dynamicConfig().updateBrokerConfig(1, layers.get('b'), true);
        ConfigHelper helper = new ConfigHelper(null, config, null);
        DescribeConfigsResourceResult result;
        if (parts[0].startsWith("topic:")) {
            String name = parts[0].substring(6);
            LogConfig log = LogConfig.fromProps(config.extractLogConfigMap(), layers.get('t'));
            result = helper.createTopicConfigEntry(log, layers.get('t'), true, false, name, log.values().get(name));
        } else {
            var resource = new DescribeConfigsResource().setResourceType((byte) 4).setResourceName("1")
                .setConfigurationKeys(List.of(parts[0].substring(7)));
            var asked = CollectionConverters.asScala(List.of(resource)).toList();
            result = helper.describeConfigs(asked, true, false).head().configs().get(0);
        }
        StringJoiner synonyms = new StringJoiner(" ");
        for (DescribeConfigsSynonym one : result.synonyms())
            synonyms.add(one.source() + ":" + one.name() + "=" + one.value());
        return line + "\t" + String.join("\t", String.valueOf(result.value()), String.valueOf(result.configSource()),
            String.valueOf(result.readOnly()), String.valueOf(result.isSensitive()),
            String.valueOf(result.configType()), synonyms.toString());
    }

    static String text(String escaped) throws RuntimeException {
        Properties properties = new Properties();
        try {
            properties.load(new StringReader("k=" + escaped));
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        return properties.getProperty("k");
    }

    static String escaped(String text) {
        StringBuilder escaped = new StringBuilder();
        for (char unit : text.toCharArray())
            escaped.append(unit > ' ' && unit <= '~' && unit != '\\' ? String.valueOf(unit) : String.format("\\u%04X", (int) unit));
        return escaped.toString();
    }
}
