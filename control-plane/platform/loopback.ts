/** Whether a host is this machine, as it is written in a setting. */
export const isLoopback = (host: string): boolean => /^(127\.|\[?::1\]?$|localhost$)/.test(host)

/** The hosts in an address of NATS, which may name several servers: `nats://a:4222,tls://user:password@b`. */
export const hostsOfNats = (url: string): string[] =>
  url.split(',').map(server =>
    server
      .trim()
      .replace(/^[a-z]+:\/\//i, '')
      .replace(/^.*@/, '')
      .replace(/:\d+$/, ''),
  )
