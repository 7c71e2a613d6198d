import { type Logger, pino } from 'pino'

export type Log = Logger

/** JSON lines on standard output. Names that hold secrets are censored wherever they stand, one level deep. */
export function createLog(name: string, level: string): Log {
  const secret = [
    'authorization',
    'password',
    'token',
    'secret',
    'signing_secret',
    'api_key',
    'auth_config',
    'credentials',
  ]
  // Not pino's own destination: when whoever read our output is gone, its last flush tries again for ever and the
  // process never ends.
  if (process.stdout.listenerCount('error') === 0) process.stdout.on('error', () => {})
  return pino(
    {
      name,
      level,
      redact: { paths: secret.flatMap(key => [key, `*.${key}`]), censor: '********' },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    { write: line => void process.stdout.write(line) },
  )
}
