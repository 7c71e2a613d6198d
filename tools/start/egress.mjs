/**
 * One machine watches what runs on it and next to it, so loopback and private ranges are open to checks and webhooks, as long
 * as only this machine reaches the API.
 */
export const LOCAL_EGRESS_ALLOW = '127.0.0.0/8,10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,::1/128,fc00::/7'
