import type { SqlJsStatic } from 'sql.js'
import { validationError } from '../../../../foundation/web/server/errors.ts'
import { assertPlain, type BodyLimits, parseBody } from '../../../../foundation/web/validation/body.ts'
import type { FindFaults } from '../../../../foundation/web/validation/validation-errors.ts'
import type { ConvertedFile } from '../../converters/foreign-file.ts'
import { type IMPORT_SOURCES, listFileProblems, parseForeignFile } from '../../converters/index.ts'
import { readUptimeKumaDatabase } from '../../converters/uptime-kuma/database/backup.ts'
import { isSqlite } from '../../converters/uptime-kuma/database/tables.ts'
import { ProjectFile } from '../../file/project-file.ts'
import { parseYaml } from '../../file/yaml.ts'

export type ImportSource = (typeof IMPORT_SOURCES)[number]
type FileTools = { findFaults: FindFaults; sqlite: SqlJsStatic }

/** 10,000 monitors of Uptime Kuma have 700,000 values. */
const LIMITS: BodyLimits = { values: 3_000_000, depth: 64 }
/** A text needs up to 16 times its size when it is parsed. 10,000 monitors have about 10 MiB. */
const MAX_TEXT_BYTES = 32 * 1024 * 1024

const [OPENING_BRACE, OPENING_BRACKET] = [0x7b, 0x5b]

/** Reads an uploaded file into Picket's format. Throws 400 with the faults of the file. */
export function readImportFile(bytes: Buffer, source: ImportSource, { findFaults, sqlite }: FileTools): ConvertedFile {
  const value = parseFile(bytes, source, sqlite)
  if (source !== 'picket') return parseForeignFile(source, value, findFaults)
  if (findFaults(ProjectFile, value).length > 0) throw validationError(listFileProblems(value, findFaults))
  return { file: value as ProjectFile, warnings: [] }
}

function parseFile(bytes: Buffer, source: ImportSource, sqlite: SqlJsStatic): unknown {
  if (bytes.length === 0) throw fault('the file is empty')
  if (isSqlite(bytes)) {
    if (source === 'uptime-kuma') {
      const backup = readUptimeKumaDatabase(sqlite, bytes)
      assertPlain(backup, LIMITS)
      return backup
    }
    throw fault('the file is an SQLite database; only databases of Uptime Kuma are accepted, with from=uptime-kuma')
  }
  if (bytes.length > MAX_TEXT_BYTES)
    throw fault(`a file in JSON or YAML must not be larger than ${MAX_TEXT_BYTES / 1024 / 1024} MiB`)
  const first = bytes.find(byte => byte > 0x20)
  if (first === OPENING_BRACE || first === OPENING_BRACKET) return parseBody(bytes, LIMITS)
  if (source === 'uptime-kuma')
    throw fault('the file is neither a backup of Uptime Kuma (JSON) nor its database (SQLite)')
  return parseYaml(bytes, LIMITS)
}

const fault = (message: string) => validationError([{ path: '', message }])
