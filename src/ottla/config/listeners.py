"""Where a node is reached, by whom, and how many connections it takes."""

from typing import Final

from ottla.config.kinds import INT, LIST, LONG, STRING
from ottla.config.option import CLUSTER_WIDE, HIGH, LOW, PER_BROKER, MiB, Option, minutes

INT_MAX: Final = (1 << 31) - 1

# fmt: off
LISTENERS: Final = Option(
    "listeners", LIST, default=["PLAINTEXT://:9092"], may_be_empty=False, change=PER_BROKER,
    importance=HIGH, doc="The names and addresses at which this node listens.")
ADVERTISED_LISTENERS: Final = Option(
    "advertised.listeners", LIST, default=None, importance=HIGH,
    doc="The addresses that clients are told, where they are others.")
LISTENER_SECURITY_PROTOCOL_MAP: Final = Option(
    "listener.security.protocol.map", STRING,
    default="SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT",
    change=PER_BROKER, importance=LOW, doc="Which protocol each listener speaks, by its name.")
CONTROLLER_LISTENER_NAMES: Final = Option(
    "controller.listener.names", LIST, importance=HIGH, doc="The listeners of the controller.")
INTER_BROKER_LISTENER_NAME: Final = Option(
    "inter.broker.listener.name", STRING, default=None,
    doc="The listener by which brokers reach each other.")
SECURITY_INTER_BROKER_PROTOCOL: Final = Option(
    "security.inter.broker.protocol", STRING, default="PLAINTEXT",
    one_of=("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"),
    doc="The protocol between brokers, where no listener is named for it.")
EARLY_START_LISTENERS: Final = Option(
    "early.start.listeners", LIST, default=None, importance=HIGH,
    doc="Listeners that take connections before the start is complete.")
SOCKET_REQUEST_MAX_BYTES: Final = Option(
    "socket.request.max.bytes", INT, default=MiB(100), at_least=1, importance=HIGH,
    doc="Take no request that is larger than this.")
SOCKET_SEND_BUFFER_BYTES: Final = Option(
    "socket.send.buffer.bytes", INT, default=102400, importance=HIGH,
    doc="The size of a socket's buffer for sending; -1: as the system has it.")
SOCKET_RECEIVE_BUFFER_BYTES: Final = Option(
    "socket.receive.buffer.bytes", INT, default=102400, importance=HIGH,
    doc="The size of a socket's buffer for receiving; -1: as the system has it.")
SOCKET_LISTEN_BACKLOG_SIZE: Final = Option(
    "socket.listen.backlog.size", INT, default=50, at_least=1,
    doc="How many connections may wait to be accepted.")
CONNECTIONS_MAX_IDLE_MS: Final = Option(
    "connections.max.idle.ms", LONG, default=minutes(10),
    doc="Close a connection that was idle for so long.")
MAX_CONNECTIONS: Final = Option(
    "max.connections", INT, default=INT_MAX, at_least=0, change=CLUSTER_WIDE,
    doc="How many connections this broker takes at once.")
MAX_CONNECTIONS_PER_IP: Final = Option(
    "max.connections.per.ip", INT, default=INT_MAX, at_least=0, change=CLUSTER_WIDE,
    doc="How many connections it takes from one address.")
MAX_CONNECTIONS_PER_IP_OVERRIDES: Final = Option(
    "max.connections.per.ip.overrides", STRING, default="", change=CLUSTER_WIDE,
    doc="Other limits for single addresses, as host:limit.")
MAX_CONNECTION_CREATION_RATE: Final = Option(
    "max.connection.creation.rate", INT, default=INT_MAX, at_least=0, change=CLUSTER_WIDE,
    doc="How many new connections it takes a second.")
CONNECTION_FAILED_AUTHENTICATION_DELAY_MS: Final = Option(
    "connection.failed.authentication.delay.ms", INT, default=100, at_least=0, importance=LOW,
    doc="Close a connection this long after its authentication failed.")
