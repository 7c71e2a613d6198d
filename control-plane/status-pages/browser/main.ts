import { keepLive } from './live.ts'
import { localizeTimes } from './times.ts'
import { addTooltips } from './tooltips.ts'

keepLive()
localizeTimes(document)
addTooltips()
