import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The access rights of the only user of the embedded engine, enforced by the engine: its own tables, no files and no other
 * servers. Everything else is refused: table functions and engines such as `file`, `url`, `s3` or `postgresql`, views,
 * dictionaries, functions, users and backups.
 */
const GRANTS = [
  'GRANT SHOW, SELECT, INSERT, ALTER COLUMN, ALTER CONSTRAINT, TRUNCATE, OPTIMIZE ON *.*',
  'GRANT CREATE DATABASE, CREATE TABLE, DROP DATABASE, DROP TABLE ON *.*',
]

/** Writes the engine's configuration into its data directory and returns the file to start it with. */
export function writeAccessRights(dataDir: string): string {
  const folder = join(dataDir, 'rights')
  const userFiles = join(folder, 'no-files')
  mkdirSync(userFiles, { recursive: true, mode: 0o700 })
  const users = join(folder, 'users.xml')
  const grants = GRANTS.map(query => `<query>${query}</query>`).join('\n')
  writeFileSync(
    users,
    `<clickhouse>
<profiles><default/></profiles>
<quotas><default/></quotas>
<users><default>
<password></password>
<networks><ip>127.0.0.1</ip><ip>::1</ip></networks>
<profile>default</profile>
<quota>default</quota>
<grants>
${grants}
</grants>
</default></users>
</clickhouse>
`,
    { mode: 0o600 },
  )
  const config = join(folder, 'config.xml')
  writeFileSync(
    config,
    `<clickhouse>
<users_config>${escaped(users)}</users_config>
<user_files_path>${escaped(userFiles)}/</user_files_path>
</clickhouse>
`,
    { mode: 0o600 },
  )
  return config
}

const escaped = (text: string) => text.replace(/[&<>]/g, sign => `&#${sign.charCodeAt(0)};`)
