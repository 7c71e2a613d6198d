import t from 'tap'
import { assertDeliveriesSurviveKills } from '../support/delivery-kills.ts'

// takes about 25 s; test/long/delivery-kills.test.ts has two hundred kills

t.test('The delivering process is killed at 40 random moments: every delivery arrives, always with the same body', t =>
  assertDeliveriesSurviveKills(t, 40),
)
