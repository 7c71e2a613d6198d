import { parentPort } from 'node:worker_threads'
import { answerQuestions } from '../../../../shared/process/thread.ts'
import { parseImage } from './image-format.ts'

/** The thread that sanitizes large SVG images. Bytes arrive as a plain Uint8Array. */
answerQuestions(parentPort, (bytes: Uint8Array) => parseImage(Buffer.from(bytes)))
