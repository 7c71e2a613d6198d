import { parentPort } from 'node:worker_threads'
import { answerQuestions } from '../../../../shared/process/thread.ts'
import { sanitizeCss } from './css-sanitizer.ts'

/** The thread that sanitizes long CSS. */
answerQuestions(parentPort, sanitizeCss)
