import { FilterChoice } from '../../parts/forms/filter-form.tsx'
import { type Channel, nameChannel } from './delivery-words.tsx'

/** The filter of deliveries by channel. `value`: the channel of the address; it is offered even when it is not in `channels`. */
export function ChannelChoice({ channels, value }: { channels: readonly Channel[] | null; value: string | null }) {
  const options = (channels ?? []).map(({ id, name }) => [id, name] as const)
  const isListed = value === null || options.some(([id]) => id === value)
  return (
    <FilterChoice
      name="alert_channel_id"
      label="Channel"
      all="Any channel"
      value={value}
      options={isListed ? options : [...options, [value, nameChannel(value, null)]]}
    />
  )
}
