package dev.verbscope.kmodel.verbs;

/**
 * {@code struct ib_port_attr}, the part that consumers look at.
 *
 * @param active whether the state is IB_PORT_ACTIVE; else IB_PORT_DOWN
 * @param activeMtu bytes
 * @param lid LID; 0 on Ethernet
 * @param smLid LID of the subnet manager; 0 on Ethernet
 * @param gidTableLength entries of the GID table
 * @param pkeyTableLength entries of the P_Key table
 */
public record IbPortAttr(boolean active, int activeMtu, int lid, int smLid, int gidTableLength, int pkeyTableLength) {}
