import { describe } from 'vitest'
import { coreStories, moreStories, useScene } from './stories.ts'

describe('deployments on process', () => {
  const scene = useScene('process')
  coreStories(scene)
  moreStories(scene, { redeploys: 3, cancel_ms: Infinity })
})
