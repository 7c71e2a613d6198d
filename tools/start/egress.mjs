/**
 * Ranges that checks and webhooks of a local installation may reach: loopback and private ranges, as long as only this
 * machine can reach the API.
 */
export const LOCAL_EGRESS_ALLOW = '127.0.0.0/8,10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,::1/128,fc00::/7'
