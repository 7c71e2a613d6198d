import { type Env, readText } from '../../../../shared/process/env.ts'
import { readNatsOperator, readUrl } from '../../../config.ts'
import { createClickhouse } from '../../../foundation/platform/clickhouse.ts'
import { connectNats, type Nats } from '../../../foundation/platform/nats/client.ts'
import { withPostgres } from '../../../foundation/platform/postgres/client.ts'
import { readHealthFacts } from '../../health/facts-reader.ts'
import { assessHealth, isAllHealthy } from '../../health/findings/all-findings.ts'
import { formatReport, getReadAtMs } from '../../health/report.ts'
import { assertNoArguments, NegativeAnswer, type OfflineAdminCommand } from '../command.ts'

/** Whether the watching itself is well. */
export const HEALTH_COMMANDS: Record<string, OfflineAdminCommand> = {
  health: {
    summary: 'says what of the watching is well, what is not, since when, and what to do',
    details: ['Asks PostgreSQL, NATS and ClickHouse. Exit code 0 when all is well, 1 when something is not.'],
    async runOffline(env, args) {
      assertNoArguments(args)
      const answer = await runHealth(env)
      if (answer.isWell) return answer.words
      throw new NegativeAnswer(answer.words)
    },
  },
}

async function runHealth(env: Env): Promise<{ isWell: boolean; words: string }> {
  const databaseUrl = readUrl(env, 'DATABASE_URL', ['postgres:', 'postgresql:'])
  const clickhouse = createClickhouse(readUrl(env, 'CLICKHOUSE_URL', ['http:', 'https:']))
  const nats = await connectNatsIfUp(env)
  try {
    const facts = await withPostgres(databaseUrl, db => readHealthFacts({ db, nats, clickhouse }))
    const findings = assessHealth(facts)
    return { isWell: isAllHealthy(findings), words: formatReport(findings, getReadAtMs(facts)) }
  } finally {
    await Promise.allSettled([nats?.close(), clickhouse.close()])
  }
}

/** Null: it does not answer within 5 s. */
const connectNatsIfUp = (env: Env): Promise<Nats | null> =>
  connectNats(readText(env, 'NATS_URL'), 'admin', readNatsOperator(env)).catch(() => null)
