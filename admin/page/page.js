// The key "/" leads to the search field, unless somebody types.
addEventListener("keydown", function (e) {
  var field = document.querySelector("[name=q]");
  if (!field || e.key != "/" || e.ctrlKey || e.metaKey || e.altKey || e.target.matches("input, select")) return;
  e.preventDefault();
  field.focus();
});

// Loads the status again, unless somebody is about to use it. If riskdex does not
// answer, the page says that it is old.
if (location.pathname == "/") setInterval(function () {
  var at = document.activeElement;
  if (document.hidden || (at && at.matches("input")) || document.querySelector("details[open]")) return;
  fetch("/livez").then(function () { location.replace("/"); }, function () {
    document.body.classList.add("old");
  });
}, 15000);
