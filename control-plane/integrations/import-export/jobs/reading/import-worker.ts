import { fstatSync, readSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import initSqlJs from 'sql.js/dist/sql-wasm-inline.js'
import { answerQuestions } from '../../../../../shared/process/thread.ts'
import { ApiError, type ErrorDetail } from '../../../../foundation/web/server/errors.ts'
import { createOwnFaultFinder } from '../../../../foundation/web/validation/schema-compiler.ts'
import { type FilePart, splitFile } from './file-parts.ts'
import { type ImportSource, readImportFile } from './read-file.ts'

/** `fd`: the descriptor of the uploaded file, which threads of a process share. */
export type ReadQuestion = { source: ImportSource; fd: number }
/** The converted file with its warnings in parts, or why it is refused. */
export type ReadAnswer = { parts: FilePart[] } | { details: ErrorDetail[] }

const tools = { findFaults: createOwnFaultFinder(), sqlite: await initSqlJs() }

/** The thread that reads uploaded files. */
answerQuestions(parentPort, ({ source, fd }: ReadQuestion): ReadAnswer => {
  try {
    return { parts: splitFile(readImportFile(readAll(fd), source, tools)) }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { details: error.extra.details ?? [{ path: '', message: error.message }] }
  }
})

function readAll(fd: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(fstatSync(fd).size)
  let at = 0
  while (at < bytes.length) {
    const count = readSync(fd, bytes, at, Math.min(bytes.length - at, 1 << 24), at)
    if (count === 0) break
    at += count
  }
  return bytes.subarray(0, at)
}
