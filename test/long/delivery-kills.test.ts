import t from 'tap'
import { assertDeliveriesSurviveKills } from '../support/delivery-kills.ts'

t.test('The delivering process is killed at 200 random moments: every delivery arrives, always with the same body', t =>
  assertDeliveriesSurviveKills(t, 200),
)
