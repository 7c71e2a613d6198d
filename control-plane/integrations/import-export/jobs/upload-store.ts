import { constants } from 'node:fs'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { newId } from '../../../foundation/platform/ids.ts'
import { ApiError, tooBusy, unavailable, validationError } from '../../../foundation/web/server/errors.ts'

export const MAX_UPLOAD_BYTES = 256 * 1024 * 1024
const MEBIBYTE = 1024 * 1024
/** Bytes and chunks that are collected before they are written. A client can send chunks of one byte. */
const WRITE_BYTES = 1 << 20
const WRITE_CHUNKS = 1_024

/** Bytes of all files on the disk of a process, of which each may have 256 MiB. */
export type DiskBudget = { take(bytes: number): void; giveBack(bytes: number): void }

/** `take` throws 503 when the files have more than `maxBytes` together. */
export function createDiskBudget(maxBytes: number): DiskBudget {
  let used = 0
  return {
    take(bytes) {
      if (used + bytes > maxBytes) throw tooBusy('other uploaded files take all of the space for imports')
      used += bytes
    },
    giveBack(bytes) {
      used -= bytes
    },
  }
}

/** A file without a name, which the system deletes when it is closed, also when the process is killed. */
export type Upload = { fd: number; bytes: number; close(): Promise<void> }

/** Creates a file in the folder for temporary files (`TMPDIR`) that only this process can read. Throws 503. */
async function createUnnamedFile(path: string): Promise<FileHandle> {
  try {
    const file = await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600)
    await unlink(path)
    return file
  } catch (error) {
    throw unavailable(`the server cannot store the file: ${describe(error)}`)
  }
}

/**
 * Writes a body to disk. `onProgress` is called with the number of bytes so far. Throws 413 for too many bytes, 400 when the
 * connection ends before the body does, and 503 when the disk or the budget is used up. Then nothing is left on the disk, and the rest of the
 * body is not read.
 */
export async function storeUpload(
  body: Readable,
  declaredBytes: number | null,
  budget: DiskBudget,
  onProgress: (bytes: number) => void,
  openFile = () => createUnnamedFile(join(tmpdir(), `picket-import-${newId()}`)),
): Promise<Upload> {
  if (declaredBytes !== null && declaredBytes > MAX_UPLOAD_BYTES) throw tooLarge()
  const file = await openFile()
  let stored = 0
  const close = async () => {
    await file.close()
    budget.giveBack(stored)
    stored = 0
  }
  try {
    const bytes = await writeBody(body, file, (bytes, added) => {
      budget.take(added)
      stored = bytes
      onProgress(bytes)
    })
    if (declaredBytes !== null && bytes !== declaredBytes) throw incomplete()
    return { fd: file.fd, bytes, close }
  } catch (error) {
    await close()
    if (error instanceof ApiError) throw error
    throw isFileError(error) ? unavailable(`the server cannot store the file: ${describe(error)}`) : incomplete()
  }
}

/** `beforeWrite`: the bytes so far, and those that are written next. */
async function writeBody(
  body: Readable,
  file: FileHandle,
  beforeWrite: (bytes: number, added: number) => void,
): Promise<number> {
  let [bytes, collected] = [0, 0]
  let chunks: Buffer[] = []
  const flush = async () => {
    beforeWrite(bytes, collected)
    await writeAll(file, Buffer.concat(chunks))
    chunks = []
    collected = 0
  }
  // a destroyed body would close the connection before the client gets the error
  const received: AsyncIterable<Buffer> = body.iterator({ destroyOnReturn: false })
  for await (const chunk of received) {
    bytes += chunk.length
    collected += chunk.length
    if (bytes > MAX_UPLOAD_BYTES) throw tooLarge()
    chunks.push(chunk)
    if (collected >= WRITE_BYTES || chunks.length >= WRITE_CHUNKS) await flush()
  }
  if (chunks.length > 0) await flush()
  return bytes
}

/** One call may write only a part, for example when the disk becomes full. */
async function writeAll(file: Pick<FileHandle, 'write'>, bytes: Buffer): Promise<void> {
  for (let rest = bytes; rest.length > 0; ) {
    const { bytesWritten } = await file.write(rest)
    rest = rest.subarray(bytesWritten)
  }
}

const isFileError = (error: unknown) => ['ENOSPC', 'EDQUOT', 'EIO', 'EFBIG'].includes((error as { code: string }).code)

const describe = (error: unknown) =>
  (error as { code?: string }).code === 'ENOSPC'
    ? 'its disk is full'
    : `its disk reports ${(error as { code?: string }).code}`

const tooLarge = () =>
  new ApiError(413, 'payload_too_large', `the file must not be larger than ${MAX_UPLOAD_BYTES / MEBIBYTE} MiB`)

const incomplete = () =>
  validationError([{ path: '', message: 'the upload ended before the file was complete; nothing was changed' }])
