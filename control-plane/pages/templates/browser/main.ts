import { startLiveUpdates } from './live.ts'
import { localizeTimes } from './times.ts'
import { addTooltips } from './tooltips.ts'

startLiveUpdates()
localizeTimes(document)
addTooltips()
