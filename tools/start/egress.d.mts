/** CIDRs, separated by commas, that checks of a local installation may reach. */
export const LOCAL_EGRESS_ALLOW: string
