import { type Env, text } from '../../shared/env.ts'
import { natsOperator, url } from '../config.ts'
import { readFacts } from '../health/facts-reader.ts'
import { findingsOf, isWell } from '../health/findings.ts'
import { readAtMs, wordsOf } from '../health/words.ts'
import { createClickhouse } from '../platform/clickhouse.ts'
import { connectNats, type Nats } from '../platform/nats.ts'
import { withPostgres } from '../platform/postgres.ts'
import { AnswerNo, none, type OfflineCommand } from './command.ts'

/** Whether the watching itself is well. */
export const HEALTH_COMMANDS: Record<string, OfflineCommand> = {
  health: {
    does: 'says what of the watching is well, what is not, since when, and what to do',
    more: ['Asks PostgreSQL, NATS and ClickHouse. Exit code 0 when all is well, 1 when something is not.'],
    async runOffline(env, args) {
      none(args)
      const answer = await health(env)
      if (answer.isWell) return answer.words
      throw new AnswerNo(answer.words)
    },
  },
}

async function health(env: Env): Promise<{ isWell: boolean; words: string }> {
  const databaseUrl = url(env, 'DATABASE_URL', ['postgres:', 'postgresql:'])
  const clickhouse = createClickhouse(url(env, 'CLICKHOUSE_URL', ['http:', 'https:']))
  const nats = await connectedNats(env)
  try {
    const facts = await withPostgres(databaseUrl, db => readFacts({ db, nats, clickhouse }))
    const findings = findingsOf(facts)
    return { isWell: isWell(findings), words: wordsOf(findings, readAtMs(facts)) }
  } finally {
    await Promise.allSettled([nats?.close(), clickhouse.close()])
  }
}

/** Null: it does not answer within 5 s. */
const connectedNats = (env: Env): Promise<Nats | null> =>
  connectNats(text(env, 'NATS_URL'), 'admin', natsOperator(env)).catch(() => null)
