/** One machine watches what stands on it and beside it, so loopback and private ranges are open to the probes. */
export const LOCAL_EGRESS_ALLOW = '127.0.0.0/8,10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,::1/128,fc00::/7'
