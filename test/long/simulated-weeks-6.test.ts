import { testWeeks } from '../support/simulated.ts'

testWeeks(106)
