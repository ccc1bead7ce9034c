/**
 * How much a model thinks before it answers. `on`: as much as it finds right. `off`: as little as it can be told to.
 * Left out: as it does by default, and what it thinks is not asked for.
 */
export type Thinking = 'off' | 'on' | 'low' | 'medium' | 'high';
