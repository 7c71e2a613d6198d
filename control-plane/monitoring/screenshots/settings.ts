import { ConfigError, type Env, readInteger, readOptionalText, readText } from '../../../shared/process/env.ts'
import {
  type ObjectStoreAddress,
  parseObjectStoreAddress,
} from '../../foundation/platform/object-storage/store-address.ts'

/** Where screenshots are stored, and how many. */
export type ScreenshotSettings = {
  store: ObjectStoreAddress
  /** empty for another store */
  s3: { accessKeyId: string; secretAccessKey: string }
  /** size of the bucket of NATS; null: the preferred size, or less where NATS has less room */
  bucketMaxBytes: number | null
  /** of a project */
  projectMaxBytes: number
}

const DEFAULT_PROJECT_BYTES = 256 * 1024 ** 2
const MIN_BYTES = 1_048_576

export function readScreenshotSettings(env: Env): ScreenshotSettings {
  const store = parseObjectStoreAddress(readText(env, 'SCREENSHOT_STORE', 'nats'))
  if (store === null) {
    throw new ConfigError('SCREENSHOT_STORE must be nats or s3://bucket?endpoint=https://host&region=name')
  }
  const readKey = store.kind === 's3' ? readText : (of: Env, name: string) => readOptionalText(of, name) ?? ''
  const readBytes = (name: string, fallback: number) =>
    readInteger(env, name, fallback, MIN_BYTES, Number.MAX_SAFE_INTEGER)
  return {
    store,
    s3: { accessKeyId: readKey(env, 'S3_ACCESS_KEY_ID'), secretAccessKey: readKey(env, 'S3_SECRET_ACCESS_KEY') },
    bucketMaxBytes: readBytes('SCREENSHOTS_MAX_BYTES', 0) || null,
    projectMaxBytes: readBytes('SCREENSHOTS_PROJECT_BYTES', DEFAULT_PROJECT_BYTES),
  }
}
