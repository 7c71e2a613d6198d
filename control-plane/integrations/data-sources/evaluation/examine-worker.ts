import { parentPort } from 'node:worker_threads'
import { answerQuestions } from '../../../../shared/process/thread.ts'
import { type Examination, examine } from './examine.ts'

/** The thread that examines large documents. A Buffer arrives as a plain Uint8Array. */
answerQuestions(parentPort, ({ answer, ...options }: Examination) =>
  examine({ answer: { ...answer, body: answer.body && Buffer.from(answer.body) }, ...options }),
)
