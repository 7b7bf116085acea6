package org.apache.kafka.controller;

import java.io.*;
import java.nio.ByteBuffer;
import java.util.*;
import java.util.function.Supplier;
import java.util.stream.*;
import kafka.server.ControllerConfigurationValidator;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.clients.admin.AlterConfigOp.OpType;
import org.apache.kafka.clients.admin.FeatureUpdate;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.message.*;
import org.apache.kafka.common.metadata.*;
import org.apache.kafka.common.protocol.*;
import org.apache.kafka.common.quota.*;
import org.apache.kafka.common.requests.ApiError;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.utils.*;
import org.apache.kafka.controller.metrics.QuorumControllerMetrics;
import org.apache.kafka.metadata.*;
import org.apache.kafka.metadata.placement.StripedReplicaPlacer;
import org.apache.kafka.server.common.*;
import org.apache.kafka.timeline.SnapshotRegistry;

/**
 * Has Kafka's own parts of the controller decide. Each line is a command, each answer a line:
 * "new" with a seed and settings; "time"; "replay" with the first offset and records; a request's
 * verb with its version and its bytes. An answer to a request is "refused", code and text, or "ok",
 * how many records, the records, then words of the reply.
 */
public class ControllerOracle {
    static final MetadataRecordSerde SERDE = MetadataRecordSerde.INSTANCE;
    static final StillTime TIME = new StillTime();
    static FeatureControlManager features;
    static ConfigurationControlManager configs;
    static ClusterControlManager cluster;
    static ReplicationControlManager replication;
    static ProducerIdControlManager producerIds;
    static ClientQuotaControlManager quotas;

    public static void main(String[] arguments) throws Exception {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        PrintStream answers = System.out;
        System.setOut(System.err);
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] words = line.split(" ");
            String answer;
            try {
                answer = answer(words);
            } catch (ApiException refused) {
                ApiError error = ApiError.fromThrowable(refused);
                answer = "refused " + error.error().code() + " " + error.message();
            }
            answers.println(answer);
            answers.flush();
        }
    }

    static String answer(String[] words) {
        switch (words[0]) {
            case "new" -> {
                TIME.now = 0;
                make(Long.parseLong(words[1]));
                return "ok";
            }
            case "time" -> {
                TIME.now = Long.parseLong(words[1]);
                return "ok";
            }
            case "activate" -> {
                cluster.activate();
                return "ok";
            }
            case "contact" -> {
                cluster.trackBrokerHeartbeat(Integer.parseInt(words[1]), Long.parseLong(words[2]));
                return "ok";
            }
            case "shutdown" -> {
                cluster.heartbeatManager().maybeUpdateControlledShutdownOffset(
                    Integer.parseInt(words[1]), Long.parseLong(words[2]));
                return "ok";
            }
            case "replay" -> {
                long offset = Long.parseLong(words[1]);
                for (String word : List.of(words).subList(2, words.length)) {
                    ByteBuffer data = ByteBuffer.wrap(HexFormat.of().parseHex(word));
                    replay(SERDE.read(new ByteBufferAccessor(data), data.remaining()).message(), offset++);
                }
                return "ok";
            }
            default -> {
                return decided(words);
            }
        }
    }

    static String decided(String[] words) {
        short v = words.length > 1 ? Short.parseShort(words[1]) : 0;
        ControllerRequestContext context = new ControllerRequestContext(
            new RequestHeaderData().setRequestApiVersion(v), KafkaPrincipal.ANONYMOUS, OptionalLong.empty());
        ByteBufferAccessor data = words.length > 2
            ? new ByteBufferAccessor(ByteBuffer.wrap(HexFormat.of().parseHex(words[2]))) : null;
        return switch (words[0]) {
            case "CreateTopics" -> {
                CreateTopicsRequestData request = new CreateTopicsRequestData(data, v);
                Set<String> names = request.topics().stream().map(one -> one.name()).collect(Collectors.toSet());
                ControllerResult<CreateTopicsResponseData> result = replication.createTopics(context, request, names, false);
                yield said(result, hex(result.response(), v));
            }
            case "CreatePartitions" -> {
                CreatePartitionsRequestData request = new CreatePartitionsRequestData(data, v);
                var result = replication.createPartitions(context, new ArrayList<>(request.topics().valuesList()));
                yield said(result, hex(new CreatePartitionsResponseData().setResults(result.response()), v));
            }
            case "DeleteTopics" -> {
                DeleteTopicsRequestData request = new DeleteTopicsRequestData(data, v);
                List<Uuid> ids = request.topics().stream().map(one -> one.topicId()).toList();
                ControllerResult<Map<Uuid, ApiError>> result = replication.deleteTopics(context, ids);
                yield said(result, ids.stream().map(id -> errorWords(result.response().get(id)))
                    .collect(Collectors.joining(";")));
            }
            case "AlterPartition" -> {
                var result = replication.alterPartition(context, new AlterPartitionRequestData(data, v));
                yield said(result, hex(result.response(), v));
            }
            case "ElectLeaders" -> {
                var result = replication.electLeaders(new ElectLeadersRequestData(data, v));
                yield said(result, hex(result.response(), v));
            }
            case "AlterPartitionReassignments" -> {
                var result = replication.alterPartitionReassignments(new AlterPartitionReassignmentsRequestData(data, v));
                yield said(result, hex(result.response(), v));
            }
            case "ListPartitionReassignments" -> {
                var request = new ListPartitionReassignmentsRequestData(data, v);
                yield "ok 0 " + hex(replication.listPartitionReassignments(request.topics(), Long.MAX_VALUE), v);
            }
            case "AssignReplicasToDirs" -> {
                var result = replication.handleAssignReplicasToDirs(new AssignReplicasToDirsRequestData(data, v));
                yield said(result, hex(result.response(), v));
            }
            case "AllocateProducerIds" -> {
                var request = new AllocateProducerIdsRequestData(data, v);
                var result = producerIds.generateNextProducerId(request.brokerId(), request.brokerEpoch());
                yield said(result, result.response().firstProducerId() + ";" + result.response().size());
            }
            case "BrokerRegistration" -> {
                var request = new BrokerRegistrationRequestData(data, v);
                var result = cluster.registerBroker(request, Long.parseLong(words[3]),
                    features.finalizedFeatures(Long.MAX_VALUE), true);
                yield said(result, "" + result.response().epoch());
            }
            case "BrokerHeartbeat" -> {
                var request = new BrokerHeartbeatRequestData(data, v);
                cluster.trackBrokerHeartbeat(request.brokerId(), request.brokerEpoch());
                OptionalLong offset = cluster.registerBrokerRecordOffset(request.brokerId());
                var result = replication.processBrokerHeartbeat(request, offset.orElse(0));
                BrokerHeartbeatReply reply = result.response();
                yield said(result, reply.isCaughtUp() + ";" + reply.isFenced() + ";" + reply.shouldShutDown()
                    + ";" + reply.inControlledShutdown());
            }
            case "UnregisterBroker" -> {
                var request = new UnregisterBrokerRequestData(data, v);
                yield said(replication.unregisterBroker(request.brokerId()), "");
            }
            case "fence" -> {
                // Sessions of epochs that are past end one a call, without a word.
                ControllerResult<Boolean> result = replication.maybeFenceOneStaleBroker();
                while (result.records().isEmpty() && result.response())
                    result = replication.maybeFenceOneStaleBroker();
                yield said(result, "");
            }
            case "balance" -> said(replication.maybeBalancePartitionLeaders(), "");
            case "unclean" -> said(replication.maybeElectUncleanLeaders(), "");
            case "UpdateFeatures" -> {
                var request = new UpdateFeaturesRequestData(data, v);
                Map<String, Short> updates = new LinkedHashMap<>();
                Map<String, FeatureUpdate.UpgradeType> types = new HashMap<>();
                for (UpdateFeaturesRequestData.FeatureUpdateKey one : request.featureUpdates()) {
                    updates.put(one.feature(), one.maxVersionLevel());
                    types.put(one.feature(), FeatureUpdate.UpgradeType.fromCode(one.upgradeType()));
                }
                var result = configs.updateFeatures(updates, types, request.validateOnly(), 1);
                yield said(result, errorWords(result.response()));
            }
            case "IncrementalAlterConfigs" -> altered(new IncrementalAlterConfigsRequestData(data, v));
            case "AlterConfigs" -> altered(new AlterConfigsRequestData(data, v));
            case "AlterClientQuotas" -> altered(new AlterClientQuotasRequestData(data, v));
            default -> throw new IllegalArgumentException(words[0]);
        };
    }

    static String altered(IncrementalAlterConfigsRequestData request) {
        Map<ConfigResource, Map<String, Map.Entry<OpType, String>>> changes = new LinkedHashMap<>();
        for (var resource : request.resources()) {
            Map<String, Map.Entry<OpType, String>> keys = new LinkedHashMap<>();
            for (var one : resource.configs())
                keys.put(one.name(), new AbstractMap.SimpleImmutableEntry<>(OpType.forId(one.configOperation()), one.value()));
            changes.put(new ConfigResource(ConfigResource.Type.forId(resource.resourceType()), resource.resourceName()), keys);
        }
        var result = configs.incrementalAlterConfigs(changes, false, false);
        return said(result, errors(changes.keySet(), result.response()));
    }

    static String altered(AlterConfigsRequestData request) {
        Map<ConfigResource, Map<String, String>> changes = new LinkedHashMap<>();
        for (var resource : request.resources()) {
            Map<String, String> keys = new LinkedHashMap<>();
            for (var one : resource.configs()) keys.put(one.name(), one.value());
            changes.put(new ConfigResource(ConfigResource.Type.forId(resource.resourceType()), resource.resourceName()), keys);
        }
        var result = configs.legacyAlterConfigs(changes, false, false);
        return said(result, errors(changes.keySet(), result.response()));
    }

    static String altered(AlterClientQuotasRequestData request) {
        List<ClientQuotaAlteration> alterations = new ArrayList<>();
        for (var entry : request.entries()) {
            Map<String, String> names = new HashMap<>();
            for (var one : entry.entity()) names.put(one.entityType(), one.entityName());
            alterations.add(new ClientQuotaAlteration(new ClientQuotaEntity(names), entry.ops().stream()
                .map(one -> new ClientQuotaAlteration.Op(one.key(), one.remove() ? null : one.value())).toList()));
        }
        var result = quotas.alterClientQuotas(alterations);
        return said(result, errors(alterations.stream().map(one -> one.entity()).toList(), result.response()));
    }

    static <T> String errors(Collection<T> keys, Map<T, ApiError> found) {
        return keys.stream().map(key -> errorWords(found.get(key))).collect(Collectors.joining(";"));
    }

    static String errorWords(ApiError error) {
        return error.error().code() + ":" + error.message();
    }

    static String said(ControllerResult<?> result, String reply) {
        return "ok " + result.records().size() + result.records().stream().map(one -> " " + hex(one))
            .collect(Collectors.joining()) + " " + reply;
    }

    static String hex(ApiMessageAndVersion record) {
        ObjectSerializationCache cache = new ObjectSerializationCache();
        ByteBuffer data = ByteBuffer.allocate(SERDE.recordSize(record, cache));
        SERDE.write(record, cache, new ByteBufferAccessor(data));
        return HexFormat.of().formatHex(data.array());
    }

    static String hex(ApiMessage message, short version) {
        ByteBuffer data = MessageUtil.toByteBufferAccessor(message, version).buffer();
        byte[] bytes = new byte[data.remaining()];
        data.get(bytes);
        return HexFormat.of().formatHex(bytes);
    }

    static void make(long seed) {
        LogContext log = new LogContext();
        SnapshotRegistry registry = new SnapshotRegistry(log);
        Properties properties = new Properties();
        properties.putAll(Map.of("process.roles", "broker,controller", "node.id", "1000",
            "controller.quorum.voters", "1000@localhost:1", "controller.listener.names", "C",
            "listeners", "C://localhost:1,B://localhost:2",
            "listener.security.protocol.map", "C:PLAINTEXT,B:PLAINTEXT", "inter.broker.listener.name", "B"));
        properties.put("num.partitions", "3");
        properties.put("default.replication.factor", "2");
        KafkaConfig config = KafkaConfig.fromProps(properties);
        features = new FeatureControlManager.Builder().setLogContext(log).setSnapshotRegistry(registry)
            .setQuorumFeatures(new QuorumFeatures(1000, QuorumFeatures.defaultSupportedFeatureMap(false), List.of(1000)))
            .setClusterFeatureSupportDescriber(new ClusterFeatureSupportDescriber() {
                public Iterator<Map.Entry<Integer, Map<String, VersionRange>>> brokerSupported() {
                    return cluster.brokerSupportedFeatures();
                }
                public Iterator<Map.Entry<Integer, Map<String, VersionRange>>> controllerSupported() {
                    return cluster.controllerSupportedFeatures();
                }
            })
            .setKRaftVersionAccessor(new KRaftVersionAccessor() {
                public KRaftVersion kraftVersion() {
                    return KRaftVersion.KRAFT_VERSION_0;
                }
                public void upgradeKRaftVersion(int epoch, KRaftVersion version, boolean validateOnly) { }
            }).build();
        configs = new ConfigurationControlManager.Builder().setLogContext(log).setSnapshotRegistry(registry)
            .setKafkaConfigSchema(KafkaRaftServer.configSchema())
            .setExistenceChecker(ControllerOracle::checkExists)
            .setValidator(new ControllerConfigurationValidator(config)).setStaticConfig(config.originals())
            .setNodeId(1000).setFeatureControl(features).build();
        cluster = new ClusterControlManager.Builder().setLogContext(log).setClusterId("cluster").setTime(TIME)
            .setSnapshotRegistry(registry).setSessionTimeoutNs(9_000_000_000L)
            .setReplicaPlacer(new StripedReplicaPlacer(new Random(seed))).setFeatureControlManager(features)
            .setBrokerShutdownHandler((id, clean, records) -> replication.handleBrokerShutdown(id, clean, records))
            .setMetrics(new QuorumControllerMetrics(Optional.empty(), TIME, 9000)).build();
        replication = new ReplicationControlManager.Builder().setLogContext(log).setSnapshotRegistry(registry)
            .setDefaultNumPartitions(3).setDefaultReplicationFactor((short) 2).setMaxElectionsPerImbalance(1000)
            .setConfigurationControl(configs).setClusterControl(cluster).setCreateTopicPolicy(Optional.empty())
            .setFeatureControl(features).build();
        producerIds = new ProducerIdControlManager.Builder().setLogContext(log).setSnapshotRegistry(registry)
            .setClusterControlManager(cluster).build();
        quotas = new ClientQuotaControlManager.Builder().setLogContext(log).setSnapshotRegistry(registry).build();
        cluster.activate();
    }

    /** As the controller itself checks: nothing can be set for what is not there. */
    static void checkExists(ConfigResource resource) {
        if (resource.type() == ConfigResource.Type.BROKER && !resource.name().isEmpty()) {
            int id = Integer.parseInt(resource.name());
            if (!cluster.brokerRegistrations().containsKey(id) && !features.isControllerId(id))
                throw new org.apache.kafka.common.errors.BrokerIdNotRegisteredException("No node with id " + id + " found.");
        } else if (resource.type() == ConfigResource.Type.TOPIC && replication.getTopicId(resource.name()) == null) {
            throw new org.apache.kafka.common.errors.UnknownTopicOrPartitionException(
                "The topic '" + resource.name() + "' does not exist.");
        }
    }

    static void replay(ApiMessage record, long offset) {
        switch (MetadataRecordType.fromId(record.apiKey())) {
            case REGISTER_BROKER_RECORD -> cluster.replay((RegisterBrokerRecord) record, offset);
            case UNREGISTER_BROKER_RECORD -> cluster.replay((UnregisterBrokerRecord) record);
            case BROKER_REGISTRATION_CHANGE_RECORD -> cluster.replay((BrokerRegistrationChangeRecord) record);
            case TOPIC_RECORD -> replication.replay((TopicRecord) record);
            case PARTITION_RECORD -> replication.replay((PartitionRecord) record);
            case PARTITION_CHANGE_RECORD -> replication.replay((PartitionChangeRecord) record);
            case REMOVE_TOPIC_RECORD -> replication.replay((RemoveTopicRecord) record);
            case CLEAR_ELR_RECORD -> replication.replay((ClearElrRecord) record);
            case CONFIG_RECORD -> configs.replay((ConfigRecord) record);
            case FEATURE_LEVEL_RECORD -> features.replay((FeatureLevelRecord) record);
            case PRODUCER_IDS_RECORD -> producerIds.replay((ProducerIdsRecord) record);
            case CLIENT_QUOTA_RECORD -> quotas.replay((ClientQuotaRecord) record);
            case NO_OP_RECORD -> { }
            default -> throw new IllegalArgumentException("" + record);
        }
    }

    static class StillTime implements Time {
        long now = 0;

        public long milliseconds() {
            return now;
        }

        public long nanoseconds() {
            return now * 1_000_000;
        }

        public void sleep(long ms) {
            now += ms;
        }

        public void waitObject(Object object, Supplier<Boolean> condition, long deadline) {
            throw new UnsupportedOperationException();
        }
    }
}
