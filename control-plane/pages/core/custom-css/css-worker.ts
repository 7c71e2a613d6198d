import { parentPort } from 'node:worker_threads'
import { answerQuestions } from '../../../../shared/process/thread.ts'
import { sanitizeCss } from './css-sanitizer.ts'

/** The thread in which long styles are read. */
answerQuestions(parentPort, sanitizeCss)
