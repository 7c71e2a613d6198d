import { readUrl } from '../../../../shared/process/env.ts'
import { assertNoArguments, type OfflineAdminCommand } from '../command.ts'
import { migrateSchema } from '../schema-actions.ts'

/** The schema of PostgreSQL. */
export const SCHEMA_COMMANDS: Record<string, OfflineAdminCommand> = {
  migrate: {
    summary: 'bring the schema of PostgreSQL up to date, as the start of a control plane does',
    details: [
      'Back up PostgreSQL first: migrations cannot be undone. Other commands create the schema only in an empty database.',
    ],
    async runOffline(env, args, print) {
      assertNoArguments(args)
      await migrateSchema(readUrl(env, 'DATABASE_URL', ['postgres:', 'postgresql:']), print)
      return 'the schema of PostgreSQL is up to date'
    },
  },
}
