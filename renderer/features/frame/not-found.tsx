import { Compass } from 'lucide-react'
import { Link } from 'wouter'
import { Empty } from '../../ui/feedback.tsx'
import { useTitle } from './title.ts'

export function NotFound() {
  useTitle('Not found')
  return (
    <Empty icon={Compass} title="There is nothing at this address" action={<Link href="/">To the projects</Link>}>
      The link may be old, or what it led to was deleted.
    </Empty>
  )
}
