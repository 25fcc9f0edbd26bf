// A photo opens out of its tile and goes back into it: a transition of the browser between two documents.

/** The address of the image of the tile that was opened. The photo page shows it until the larger image has loaded. */
const OPENED_TILE = 'opened-tile';

let movement;

/** Moves an element in a transition, if there is one. Without the element, the transition is skipped. */
function moveIn(transition, element) {
  if (!transition) return;
  movement = transition;
  // It is rejected if the transition is skipped, by this or by the next one.
  transition.ready.catch(() => {});
  if (!element) return transition.skipTransition();
  // Both documents use the same name. A transition that another one has replaced ends later.
  const end = () => movement === transition && (element.style.viewTransitionName = '');
  element.style.viewTransitionName = 'photo';
  transition.finished.then(end, end);
}
