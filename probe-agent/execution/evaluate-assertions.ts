import { machine } from '../clock.ts'
import { createAssertionEvaluator } from './assertion-worker.ts'

/** Evaluates the assertions of all checks of this process, see createAssertionEvaluator. */
export const evaluateAssertions = createAssertionEvaluator(machine.after)
