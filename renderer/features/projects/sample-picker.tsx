import { Anchor, BookOpen, Lamp, Newspaper, Sailboat, Waves } from 'lucide-react'
import { useId } from 'react'
import { type Sample, samples } from './samples.ts'
import styles from './sample-picker.module.css'

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
    <fieldset className={styles.samplePicker}>
      <legend className="visually-hidden">Sample</legend>
      {samples.map((sample) => {
        const Icon = icons[sample.name] ?? Anchor
        return (
          <label key={sample.name} className={styles.samplePickerSample}>
            <input type="radio" required name={group} value={sample.name} checked={value === sample.name} onChange={() => onChange(sample)} />
            <Icon size={19} aria-hidden />
            <span>
              <strong>{sample.title}</strong> <span className={styles.samplePickerShows}>{sample.shows}</span>
              <span className={`text-muted ${styles.samplePickerAbout}`}>{sample.about}</span>
            </span>
          </label>
        )
      })}
    </fieldset>
  )
}
