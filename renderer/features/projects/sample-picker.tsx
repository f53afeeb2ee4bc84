import { Anchor, BookOpen, Lamp, Newspaper, Sailboat, Waves } from 'lucide-react'
import { useId } from 'react'
import { type Sample, samples } from './samples.ts'
import './sample-picker.css'

const icons: Record<string, typeof Anchor> = {
  'tide-clock': Waves,
  'signal-lamp': Lamp,
  'harbour-news': Newspaper,
  'guest-book': BookOpen,
  'leaky-boat': Sailboat,
}

/** Lists the samples with their descriptions. */
export default function SamplePicker({ value, onChange }: { value: string | null; onChange: (sample: Sample) => void }) {
  const group = useId()
  return (
    <fieldset className="sample-picker">
      <legend className="visually-hidden">Sample</legend>
      {samples.map((sample) => {
        const Icon = icons[sample.name] ?? Anchor
        return (
          <label key={sample.name} className="sample-picker-sample">
            <input type="radio" name={group} value={sample.name} checked={value === sample.name} onChange={() => onChange(sample)} />
            <Icon size={19} aria-hidden />
            <span>
              <strong>{sample.title}</strong> <span className="sample-picker-shows">{sample.shows}</span>
              <span className="text-muted sample-picker-about">{sample.about}</span>
            </span>
          </label>
        )
      })}
    </fieldset>
  )
}
