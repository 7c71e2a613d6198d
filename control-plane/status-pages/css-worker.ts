import { parentPort } from 'node:worker_threads'
import { answerQuestions } from '../../shared/thread.ts'
import { makeSafe } from './custom-css.ts'

/** The thread in which long styles are read. */
answerQuestions(parentPort, makeSafe)
