import { type Logger, pino } from 'pino'

export type Log = Logger

/** Writes JSON lines to standard output. Values of secret names are replaced at the top level and one level below. */
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
  // Not pino's own destination: when the reader of the output is gone, its last flush retries forever and the process
  // never exits.
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
