/** An element of a `SlotSet`: its place in it, or -1. */
export interface Slotted {
  slot: number
}

/**
 * A set for objects that come and go all the time. A `Set` replaces its table every few dozen changes, and in V8 each old table refers to the next one, so
 * that one of them in the old generation keeps everything that was ever in the set until the next full collection.
 */
export class SlotSet<T extends Slotted> {
  readonly #elements: T[] = []

  get size(): number {
    return this.#elements.length
  }

  add(element: T): void {
    if (element.slot >= 0) return
    element.slot = this.#elements.length
    this.#elements.push(element)
  }

  delete(element: T): void {
    const { slot } = element
    if (slot < 0) return
    const last = this.#elements.pop() as T
    if (last !== element) {
      this.#elements[slot] = last
      last.slot = slot
    }
    element.slot = -1
  }

  /** The elements of now, so that they can be removed meanwhile. */
  values(): T[] {
    return [...this.#elements]
  }
}
