import { type Env, readUrl } from '../../../../shared/process/env.ts'
import { createClickhouse } from '../../../foundation/platform/clickhouse.ts'
import { connectNats, type Nats } from '../../../foundation/platform/nats/client.ts'
import { readNatsOperator, readNatsUrl } from '../../../foundation/platform/nats/settings.ts'
import { withPostgres } from '../../../foundation/platform/postgres/client.ts'
import { readHealthFacts } from '../../health/facts-reader.ts'
import { assessHealth, isAllHealthy } from '../../health/findings/all-findings.ts'
import { formatReport, getReadAtMs } from '../../health/report.ts'
import { assertNoArguments, NegativeAnswer, type OfflineAdminCommand } from '../command.ts'

/** The health of the installation. */
export const HEALTH_COMMANDS: Record<string, OfflineAdminCommand> = {
  health: {
    summary: 'report the health of the installation: problems, since when, and what to do',
    details: ['Queries PostgreSQL, NATS and ClickHouse. Exit code 0 without problems, 1 with problems.'],
    async runOffline(env, args) {
      assertNoArguments(args)
      const { isHealthy, text } = await runHealth(env)
      if (isHealthy) return text
      throw new NegativeAnswer(text)
    },
  },
}

/** A server that does not answer is a finding of the report, and not worth a long wait. */
const PROMPT = { connectMs: 5_000 }

async function runHealth(env: Env): Promise<{ isHealthy: boolean; text: string }> {
  const databaseUrl = readUrl(env, 'DATABASE_URL', ['postgres:', 'postgresql:'])
  const clickhouse = createClickhouse(readUrl(env, 'CLICKHOUSE_URL', ['http:', 'https:']))
  const nats = await connectNatsIfUp(env)
  try {
    const facts = await withPostgres(databaseUrl, db => readHealthFacts({ db, nats, clickhouse }), PROMPT)
    const findings = assessHealth(facts)
    return { isHealthy: isAllHealthy(findings), text: formatReport(findings, getReadAtMs(facts)) }
  } finally {
    await Promise.allSettled([nats?.close(), clickhouse.close()])
  }
}

/** Null when NATS does not answer within 5 s. */
const connectNatsIfUp = (env: Env): Promise<Nats | null> =>
  connectNats(readNatsUrl(env), 'admin', readNatsOperator(env)).catch(() => null)
