/** The minimum environment of a control plane, with addresses on this machine where nothing listens. */
export const NEEDED_ENV = {
  DATABASE_URL: 'postgres://127.0.0.1/picket',
  CLICKHOUSE_URL: 'http://127.0.0.1:8123/picket',
  NATS_URL: 'nats://127.0.0.1:4222',
  SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
}
